/**
 * `POST /agents/:name/run` and `/stream`, and the same for teams and workflows.
 *
 * @module
 */

import type { Kind, RunResult } from '../../agents/contract.ts'
import { errorOf } from '../../agents/event.ts'
import { KINDS } from '../../agents/registry.ts'
import { asTold, ServableError } from '../../errors.ts'
import type { RunHost } from '../../runs/host.ts'
import type { RunRecord } from '../../runs/record.ts'
import { type Caller, type Run, type RunSettings, startRun } from '../../runs/run.ts'
import { jsonReply, Reply, sseReply } from '../../web/reply.ts'
import { counted, type SseSource, type StreamCount } from '../../web/sse.ts'
import { createStoredClientOf, type StoredClientOf } from '../client-of.ts'
import type { Endpoint, RequestState, Route } from '../context.ts'
import { joinPath } from '../router.ts'
import { type RunRequest, type RunRequestOptions, readRunRequest, type Stored } from '../run-request.ts'
import { sseOfFollower, sseOfRun } from '../sse-encoder.ts'

/** What the run routes need. */
export interface RunRoutesOptions extends RunRequestOptions {
  readonly prefix: string
  readonly runs: RunSettings
  readonly host: RunHost
  readonly countStream: StreamCount | undefined
}

/** The same, with what is made for them. */
interface RunRouteParts extends RunRoutesOptions {
  readonly storedClientOf: StoredClientOf
}

/** The run and stream routes of every kind. */
export function runRoutes(given: RunRoutesOptions): Route[] {
  const options = { ...given, storedClientOf: createStoredClientOf() }
  return KINDS.flatMap(kind => {
    const path = joinPath(options.prefix, `${kind}s`, ':name')
    return [
      route(`${path}/run`, answerJson(kind, options)),
      route(`${path}/stream`, answerStream(kind, options)),
    ]
  })
}

function route(path: string, endpoint: Endpoint): Route {
  return { method: 'POST', path, part: 'router', endpoint }
}

function answerJson(kind: Kind, options: RunRouteParts): Endpoint {
  return async (request, state) => {
    const asked = await readRunRequest(kind, request, state, options)
    try {
      if (asked.stored === undefined) {
        const run = startPlain(asked, request, state, options)
        return jsonOfRun(await run.result(), run.id)
      }
      const record = await startStored(asked, asked.stored, state, options)
      if (asked.stored.isAsync) return accepted(record, options.prefix)
      return jsonOfRun(resultOf(await options.host.wait(record.id, asked.owner, request.signal)), record.id)
    } finally {
      asked.release?.()
    }
  }
}

function answerStream(kind: Kind, options: RunRouteParts): Endpoint {
  const count = options.countStream
  return async (request, state) => {
    const asked = await readRunRequest(kind, request, state, options)
    const { stored, release } = asked
    if (stored === undefined) {
      const run = startPlain(asked, request, state, options)
      run.onEnd = release
      return streamOfRun(counted(sseOfRun(run), count), run.id)
    }
    try {
      const record = await startStored(asked, stored, state, options)
      if (stored.isAsync) return accepted(record, options.prefix)
      const tell = (error: unknown) => state.tellThrown('stream.failed', error, request)
      const source = sseOfFollower(await options.host.follow(record.id, asked.owner, 0), tell)
      return streamOfRun(counted(source, count), record.id)
    } finally {
      release?.()
    }
  }
}

function startPlain(
  asked: RunRequest,
  request: Request,
  state: RequestState,
  options: RunRoutesOptions,
): Run {
  const { target, body } = asked
  const run = startRun(target, body.input, asked.options, options.runs, new Asker(request, state))
  state.started(run.id)
  // Who has been waiting for long may have left.
  if (state.ageMs > SOON_MS) run.arm()
  return run
}

/** Who has sent a request. */
class Asker implements Caller {
  readonly #request: Request
  readonly #state: RequestState

  constructor(request: Request, state: RequestState) {
    this.#request = request
    this.#state = state
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  readonly secrets = (): readonly string[] => this.#state.secretsOf(this.#request)
}

/** Milliseconds in which hardly a client gives up. */
const SOON_MS = 10

async function startStored(
  { target, body, options: run, owner, secrets }: RunRequest,
  { isBackground, key }: Stored,
  state: RequestState,
  options: RunRouteParts,
): Promise<RunRecord> {
  const record = await options.host.start({
    target,
    input: body.input,
    options: run,
    owner,
    client: await options.storedClientOf(state),
    isBackground,
    key,
    secrets,
  })
  state.started(record.id)
  return record
}

/** The answer of a run as JSON. */
function jsonOfRun(result: RunResult, runId: string): Reply {
  return new Reply(toJson(result), { headers: { 'content-type': 'application/json', 'x-run-id': runId } })
}

/** The events of a run as SSE. */
export function streamOfRun(source: SseSource, runId: string): Reply {
  return sseReply(source, { 'x-run-id': runId })
}

/** 202 with the place where the run can be read (RFC 9110, section 15.3.3; RFC 7240, section 3). */
function accepted(record: RunRecord, prefix: string): Reply {
  const location = joinPath(prefix, 'runs', record.id)
  const headers = { location, 'preference-applied': 'respond-async', 'x-run-id': record.id }
  return jsonReply(record, { status: 202, headers })
}

/** The result of an ended run; what made it fail is thrown again. */
function resultOf({ result, error, status }: RunRecord): RunResult {
  if (result !== undefined) return result
  const { code, message } = error ?? { code: 'agent_failed', message: `The run is ${status}` }
  throw asTold(errorOf({ type: 'error', code, error: message }))
}

/** A tool may have given what JSON cannot say. Its own text could hold anything, so it is not told. */
function toJson(result: RunResult): string {
  try {
    return JSON.stringify(result)
  } catch (cause) {
    throw new ServableError('invalid_event', 'The result of the run cannot be written as JSON', { cause })
  }
}
