/**
 * `POST` and `GET /agents/:name/corrections`, and `GET …/export` of their cases. They answer 404 unless the agent accepts corrections.
 *
 * @module
 */

import type { CorrectionPage, CorrectionQuery, CorrectionStore } from '../../agents/corrections.ts'
import { ServableError } from '../../base/errors.ts'
import { checkPermitOf, type Permit } from '../../runs/permit.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { LINES_HEADERS, streamOfLines } from '../../web/json-lines.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'
import type { Catalog } from '../catalog.ts'
import type { RequestState, Route } from '../context.ts'
import { caseOf, MAX_CORRECTION_BYTES, parseCorrection, parseCorrectionQuery } from '../corrections.ts'
import { joinPath, queryOf } from '../router.ts'

/** Corrections that the export reads at once. */
const EXPORTED = 20

/** The options of the routes. */
export interface CorrectionRoutesOptions {
  readonly prefix: string
  readonly catalog: Catalog
  readonly maxBodyBytes: number
  /** Whether everyone may list corrections without an owner. */
  readonly listAnonymous: boolean
  /** The store for agents without a store of their own. */
  readonly store: Required<CorrectionStore>
  readonly permit: Permit | undefined
}

/** Makes the routes. */
export function correctionRoutes(options: CorrectionRoutesOptions): Route[] {
  const path = joinPath(options.prefix, 'agents/:name/corrections')
  return [
    { method: 'POST', path, part: 'router', endpoint: (request, state) => add(request, state, options) },
    { method: 'GET', path, part: 'router', endpoint: (request, state) => list(request, state, options) },
    {
      method: 'GET',
      path: `${path}/export`,
      part: 'router',
      endpoint: (request, state) => exported(request, state, options),
    },
  ]
}

async function add(request: Request, state: RequestState, options: CorrectionRoutesOptions): Promise<Reply> {
  const store = storeOf(state, options)
  requireJson(request)
  const body = parseCorrection(await readJson(request, Math.min(options.maxBodyBytes, MAX_CORRECTION_BYTES)))
  const { owner } = state
  await checkPermitOf(options.permit, state, () => ({ kind: 'agent', name: state.params.name ?? '' }))
  const correction = {
    id: crypto.randomUUID(),
    agent: state.params.name ?? '',
    createdAt: new Date().toISOString(),
    ...body,
    ...(owner !== null && { userId: owner }),
  }
  await store.add(correction, owner)
  return jsonReply(correction, { status: 201 })
}

async function list(request: Request, state: RequestState, options: CorrectionRoutesOptions): Promise<Reply> {
  const read = pagesOf(state, options)
  const page = await read(parseCorrectionQuery(Object.fromEntries(queryOf(request.url))))
  return jsonReply(page, { headers: { 'cache-control': 'no-store' } })
}

/** Streams the cases of the agent, newest first: a line of JSON each. */
function exported(request: Request, state: RequestState, options: CorrectionRoutesOptions): Response {
  const lines = linesOf(pagesOf(state, options))
  const onError = (error: unknown) => state.logThrown('stream.failed', error, request)
  return new Response(streamOfLines(lines, onError), { headers: LINES_HEADERS })
}

type ReadPage = (query: Pick<CorrectionQuery, 'cursor' | 'limit'>) => Promise<CorrectionPage>

async function* linesOf(read: ReadPage): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const { corrections, nextCursor } = await read({ cursor, limit: EXPORTED })
    const cases = corrections.flatMap(each => caseOf(each) ?? [])
    if (cases.length > 0) yield cases.map(each => `${JSON.stringify(each)}\n`).join('')
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

/** Reads pages of the caller's corrections. Throws `not_found` if they cannot be listed. */
function pagesOf(state: RequestState, options: CorrectionRoutesOptions): ReadPage {
  const store = storeOf(state, options)
  if (state.identity === undefined && !options.listAnonymous) {
    throw new ServableError('not_found', 'Listing corrections needs an identity: see `runs.listAnonymous`')
  }
  if (store.list === undefined)
    throw new ServableError('not_found', 'The corrections of this agent cannot be listed')
  const list = store.list.bind(store)
  return async query => list({ agent: state.params.name ?? '', owner: state.owner, ...query })
}

/** The agent's store of corrections. Throws `agent_not_found`, and `not_found` for an agent that accepts none. */
function storeOf({ params }: RequestState, { catalog, store }: CorrectionRoutesOptions): CorrectionStore {
  const { servable } = catalog.resolve('agent', params.name ?? '')
  const { corrections } = servable as { corrections?: unknown }
  if (corrections === true) return store
  if (typeof Object(corrections).add === 'function') return corrections as CorrectionStore
  throw new ServableError('not_found', 'This agent accepts no corrections: see its option `corrections`')
}
