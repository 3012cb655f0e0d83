/**
 * `POST /agents/:name/run` and `/stream`, and the same for teams and workflows.
 *
 * @module
 */

import type { Kind, RunOptions, RunResult } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../errors.ts'
import { parseRunBody } from '../../runs/input.ts'
import { type Run, type RunSettings, startRun } from '../../runs/run.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { SSE_HEADERS, sseStream } from '../../web/sse.ts'
import type { Catalog } from '../catalog.ts'
import type { Endpoint, RequestState } from '../context.ts'
import type { KeyReader } from '../key-headers.ts'
import { joinPath, type Route } from '../router.ts'
import { sseSourceOf } from '../sse-encoder.ts'

/** What the run routes need. */
export interface RunRoutesOptions {
  readonly prefix: string
  readonly catalog: Catalog
  readonly readKeys: KeyReader
  readonly runs: RunSettings
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
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
    const run = await openRun(kind, request, state, options)
    const body = toJson(await run.result())
    return new Response(body, { headers: { 'content-type': 'application/json', 'x-run-id': run.id } })
  }
}

function answerStream(kind: Kind, options: RunRoutesOptions): Endpoint {
  return async (request, state) => {
    const run = await openRun(kind, request, state, options)
    return new Response(sseStream(sseSourceOf(run)), { headers: { ...SSE_HEADERS, 'x-run-id': run.id } })
  }
}

/** Reads and checks the request, and starts its run. An unknown name is told before the body is read. */
async function openRun(
  kind: Kind,
  request: Request,
  state: RequestState,
  options: RunRoutesOptions,
): Promise<Run> {
  const target = options.catalog.resolve(kind, state.params.name!)
  requireJson(request)
  const body = parseRunBody(await readJson(request, options.maxBodyBytes))
  const run: RunOptions = {
    sessionId: body.sessionId,
    userId: state.identity?.id ?? body.userId,
    apiKeys: options.readKeys(request.headers, body.apiKey),
    signal: request.signal,
  }
  const started = startRun(target, body.input, run, options.runs)
  state.runId = started.id
  return started
}

/** A tool may have given what JSON cannot say. Its own text could hold anything, so it is not told. */
function toJson(result: RunResult): string {
  try {
    return JSON.stringify(result)
  } catch (cause) {
    throw new ServableError('invalid_event', 'The result of the run cannot be written as JSON', { cause })
  }
}
