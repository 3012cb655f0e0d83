/**
 * `POST /agents/:name/run` and `/stream`, and the same for teams and workflows.
 *
 * @module
 */

import type { Kind, RunResult } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { jsonReply, Reply, sseReply } from '../../web/reply.ts'
import { counted, type SseSource, type StreamCount } from '../../web/sse.ts'
import type { Endpoint, RequestState, Route } from '../context.ts'
import { joinPath } from '../router.ts'
import {
  acceptsEvents,
  prefersAsync,
  type RunRequest,
  type RunRequestOptions,
  readRunRequest,
} from '../runs/run-request.ts'
import { shownTo } from '../runs/shown-to.ts'
import { sseOfFollower, sseOfRun } from '../runs/sse-encoder.ts'
import type { StartedRun, StartRun, Steered } from '../runs/start-run.ts'
import { RequestAsker } from '../security/asker.ts'
import type { KeyReader } from '../security/key-headers.ts'

/** The options of the run routes. */
export interface RunRoutesOptions extends RunRequestOptions {
  readonly prefix: string
  readonly readKeys: KeyReader
  readonly startRun: StartRun
  readonly host: RunHost
  readonly countStream: StreamCount | undefined
}

/** The run and stream routes of every kind. */
export function runRoutes(options: RunRoutesOptions): Route[] {
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

function answerJson(kind: Kind, options: RunRoutesOptions): Endpoint {
  return async (request, state) => {
    const asked = await readRunRequest(kind, request, state, options)
    try {
      const started = await start(asked, request, state, options)
      if (started.steered) return steeredReply(started.steered, options.prefix)
      if (asked.isAsync && started.record) return accepted(started.record, options.prefix)
      return jsonOfRun(await started.result(request.signal), started.id)
    } finally {
      asked.release?.()
    }
  }
}

function answerStream(kind: Kind, options: RunRoutesOptions): Endpoint {
  return async (request, state) => {
    const asked = await readRunRequest(kind, request, state, options)
    let started: StartedRun | undefined
    try {
      started = await start(asked, request, state, options)
      if (asked.isAsync && started.steered) return steeredReply(started.steered, options.prefix)
      if (asked.isAsync && started.record) return accepted(started.record, options.prefix)
      return await streamOfStarted(started, request, state, options)
    } finally {
      // A plain run still has its input.
      if (started?.run === undefined) asked.release?.()
    }
  }
}

function start(
  asked: RunRequest,
  request: Request,
  state: RequestState,
  { startRun, readKeys }: RunRoutesOptions,
): StartedRun | Promise<StartedRun> {
  const begun = (started: StartedRun) => {
    state.started(started.id)
    // The client may have left if it has waited for long.
    if (state.ageMs > SOON_MS) started.run?.arm()
    return started
  }
  const starting = startRun(asked, new RequestAsker(request, state, readKeys))
  return starting instanceof Promise ? starting.then(begun) : begun(starting)
}

/** Milliseconds within which hardly a client leaves. */
const SOON_MS = 10

/** The options of the answer of a run that continues another. */
export interface StartedReplyOptions {
  readonly prefix: string
  readonly host: RunHost
  readonly countStream: StreamCount | undefined
}

/**
 * The answer of a run that continues another: its result, its events if the client accepts `text/event-stream`, or 202 with its
 * record if the client prefers that.
 */
export async function startedReply(
  started: StartedRun,
  request: Request,
  state: RequestState,
  options: StartedReplyOptions,
): Promise<Reply> {
  const { id, record } = started
  state.started(id)
  if (record !== undefined && prefersAsync(request.headers))
    return accepted(shownTo(state, record), options.prefix)
  if (!acceptsEvents(request.headers)) return jsonOfRun(await started.result(request.signal), id)
  return streamOfStarted(started, request, state, options)
}

/** The events of a started run: directly, or from its log. */
async function streamOfStarted(
  { id, run }: StartedRun,
  request: Request,
  state: RequestState,
  { host, countStream }: StartedReplyOptions,
): Promise<Reply> {
  if (run !== undefined) return streamOfRun(counted(sseOfRun(run), countStream), id)
  const onError = (error: unknown) => state.logThrown('stream.failed', error, request)
  const follower = await host.follow(id, state.owner, 0)
  return streamOfRun(counted(sseOfFollower(follower, onError), countStream), id)
}

/** The answer of a run as JSON. */
export function jsonOfRun(result: RunResult, runId: string): Reply {
  return new Reply(toJson(result), { headers: { 'content-type': 'application/json', 'x-run-id': runId } })
}

/** The events of a run as SSE. */
export function streamOfRun(source: SseSource, runId: string): Reply {
  return sseReply(source, { 'x-run-id': runId })
}

/** 202 with the address of the run (RFC 9110, section 15.3.3; RFC 7240, section 3). */
export function accepted(record: RunRecord, prefix: string): Reply {
  const location = joinPath(prefix, 'runs', record.id)
  const headers = { location, 'preference-applied': 'respond-async', 'x-run-id': record.id }
  return jsonReply(record, { status: 202, headers })
}

/** 202 with the run at work that gets the message, and the run that the message starts if that one ends first. */
export function steeredReply({ into: id, next, messageId, position }: Steered, prefix: string): Reply {
  const headers = { location: joinPath(prefix, 'runs', id), 'x-run-id': id }
  return jsonReply({ id, steered: true, messageId, position, next }, { status: 202, headers })
}

/** Writes a result as JSON. A tool's value may not be JSON; the error leaves its text out, which could hold anything. */
function toJson(result: RunResult): string {
  try {
    return JSON.stringify(result)
  } catch (cause) {
    throw new ServableError('invalid_event', 'The result of the run cannot be written as JSON', { cause })
  }
}
