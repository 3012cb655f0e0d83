/**
 * Stored runs: `GET /runs`, `GET /runs/:id`, `GET /runs/:id/stream`, `GET /runs/:id/events`, `POST /runs/:id/cancel` and
 * `DELETE /runs/:id`.
 *
 * @module
 */

import type { RunInput } from '../../agents/contract.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { checkPermitOf, type Permit } from '../../runs/permit.ts'
import type { RunHost, RunQuery, Viewer } from '../../runs/stored/host.ts'
import { pageToJson } from '../../runs/stored/log-page.ts'
import { parseEventQuery, parseRecordQuery, parseRunQuery } from '../../runs/stored/query.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import { counted, SSE_HEADERS, type StreamCount } from '../../web/sse.ts'
import type { Endpoint, EndpointResult, RequestState, Route } from '../context.ts'
import { joinPath, queryOf } from '../router.ts'
import { createLiveList, type OpenLiveList } from '../runs/live-list.ts'
import { LiveRuns } from '../runs/live-runs.ts'
import { acceptsEvents } from '../runs/run-request.ts'
import { shownTo } from '../runs/shown-to.ts'
import { sseOfFollower } from '../runs/sse-encoder.ts'
import { streamOfRun } from './run-routes.ts'

/** The options of the routes. */
export interface FollowedRoutesOptions {
  readonly prefix: string
  readonly host: RunHost
  /** Whether everyone may list runs without an owner. */
  readonly listAnonymous: boolean
  readonly countStream: StreamCount | undefined
  readonly permit: Permit | undefined
}

/** Headers of a record, which changes and belongs to its owner. */
const NO_STORE = { 'cache-control': 'no-store' }

/** The routes of stored runs. */
export function storedRunRoutes({
  prefix,
  host,
  listAnonymous,
  countStream,
  permit,
}: FollowedRoutesOptions): Route[] {
  const path = joinPath(prefix, 'runs')
  const openStream = createLiveList()
  const route = (method: Route['method'], suffix: string, endpoint: Endpoint): Route => ({
    method,
    path: `${path}${suffix}`,
    part: 'runs',
    endpoint,
  })
  return [
    route('GET', '', (request, state) => answerList(request, state, host, listAnonymous, openStream)),
    route('GET', '/:id', async (request, state) => {
      const id = runIdOf(state)
      const { include } = parseRecordQuery(Object.fromEntries(queryOf(request.url)))
      const record = await host.get(id, state.owner)
      const shown = shownTo(state, record)
      return jsonOfRecord(include ? { ...shown, input: await inputOf(host, id, state.owner) } : shown)
    }),
    route('GET', '/:id/stream', async (request, state) => {
      const id = runIdOf(state)
      // A `HEAD` request must not follow the run, since leaving could end it.
      if (request.method === 'HEAD') return headOfStream(await host.get(id, state.owner))
      const follower = await host.follow(id, state.owner, startOf(request))
      const onError = (error: unknown) => state.logThrown('stream.failed', error, request)
      return streamOfRun(counted(sseOfFollower(follower, onError), countStream), id)
    }),
    route('GET', '/:id/events', async (request, state) => {
      const id = runIdOf(state)
      const query = parseEventQuery(Object.fromEntries(queryOf(request.url)))
      const page = await host.events(id, state.owner, query)
      const headers = { 'content-type': 'application/json', ...NO_STORE, 'x-run-id': id }
      return new Reply(pageToJson(page, query), { headers })
    }),
    route('DELETE', '/:id', async (_, state) => {
      const id = runIdOf(state)
      await checkPermitOf(permit, state, () => host.get(id, state.owner))
      await host.delete(id, state.owner)
      return new Response(null, { status: 204 })
    }),
    route('POST', '/:id/cancel', async (_, state) => {
      const id = runIdOf(state)
      await checkPermitOf(permit, state, () => host.get(id, state.owner))
      return jsonOfRecord(shownTo(state, await host.cancel(id, state.owner)))
    }),
  ]
}

/** The stored input of a run; undefined if it is not stored. */
async function inputOf(host: RunHost, id: string, owner: Viewer): Promise<RunInput | undefined> {
  try {
    return (await host.asked(id, owner)).input
  } catch (error) {
    if (isServableError(error) && error.code === 'input_not_kept') return undefined
    throw error
  }
}

function headOfStream({ id }: RunRecord): Response {
  return new Response(null, { headers: { ...SSE_HEADERS, 'x-run-id': id } })
}

/** A record, which caches must not store. */
export function jsonOfRecord(record: Pick<RunRecord, 'id'>): Reply {
  return jsonReply(record, { headers: { ...NO_STORE, 'x-run-id': record.id } })
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The id in the path. Throws `run_not_found` for one that cannot be an id. */
export function runIdOf(state: RequestState): string {
  const { id = '' } = state.params
  if (!UUID.test(id)) throw new ServableError('run_not_found', 'There is no such run')
  state.runId = id
  return id
}

/** The event to begin after: `Last-Event-ID`, which browsers send when they reconnect, or `?after=`. */
function startOf(request: Request): number {
  const text = request.headers.get('last-event-id') ?? queryOf(request.url).get('after') ?? '0'
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ServableError('invalid_query', '`Last-Event-ID` and `after` must be the id of an event')
}

async function answerList(
  request: Request,
  state: RequestState,
  host: RunHost,
  listAnonymous: boolean,
  openStream: OpenLiveList,
): Promise<EndpointResult> {
  if (state.identity === undefined && !listAnonymous) {
    throw new ServableError('not_found', 'Listing runs needs an identity: see `runs.listAnonymous`')
  }
  const asked = parseRunQuery(Object.fromEntries(queryOf(request.url)))
  // What is found tells what the runs of others were asked.
  if (asked.search !== undefined && !state.mayReadInputOf(state.isOfEveryone ? undefined : state.owner))
    throw new ServableError('not_found', 'Nothing is served at this path')
  const query = state.isOfEveryone ? { ...asked, everyone: { tenant: state.identity?.tenant } } : asked
  const { owner } = state
  const look = async (query: RunQuery) => {
    const page = await host.list(owner, query)
    return { ...page, runs: page.runs.map(run => shownTo(state, run, run.owner)) }
  }
  if (!acceptsEvents(request.headers)) return jsonReply(await look(query), { headers: NO_STORE })
  if (request.method === 'HEAD') return new Response(null, { headers: SSE_HEADERS })
  return openStream(new LiveRuns(() => look({ ...query, cursor: undefined, count: undefined })), error =>
    state.logThrown('stream.failed', error, request),
  )
}
