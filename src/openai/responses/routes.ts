/**
 * `/responses`: making them, and reading, cancelling and deleting those that are kept.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import { after } from '../../encoders/encoder.ts'
import { isServableError, ServableError } from '../../errors.ts'
import type { Endpoint, RequestState, Route } from '../../http/context.ts'
import { queryOf } from '../../http/router.ts'
import { jsonReply, type Reply, sseReply } from '../../web/reply.ts'
import { counted } from '../../web/sse.ts'
import type { Models } from '../models.ts'
import { createResponse, type Making } from './create.ts'
import { inputItemsOf, pageOf } from './input-items.ts'
import { type KeptResponse, KeptResponses } from './kept.ts'

const NO_STORE = { 'cache-control': 'no-store' }

/** Makes the routes, below a path. */
export function responseRoutes(
  core: Core,
  models: Models,
  making: Making,
  route: (method: Route['method'], path: string, endpoint: Endpoint) => Route,
): Route[] {
  const kept = new KeptResponses(core, making)
  const { host, openStream } = core
  const find = async (state: RequestState): Promise<KeptResponse> => {
    const found = await kept.find(state.params.id ?? '', state.owner)
    state.runId = found.record.id
    return found
  }
  const tell = async (found: KeptResponse, request: Request, state: RequestState): Promise<Reply> =>
    jsonReply(await kept.read(found, request, state), { headers: NO_STORE })
  return [
    route('POST', 'responses', createResponse(core, models, kept, making)),
    route('GET', 'responses/:id', async (request, state) => {
      const query = queryOf(request.url)
      const found = await find(state)
      // Asking for the head follows nothing: leaving could end the run.
      if (query.get('stream') !== 'true' || request.method === 'HEAD') return tell(found, request, state)
      const { head, source } = await kept.stream(found, startOf(query), request, state)
      return sseReply(counted(after(head, source), openStream), { 'x-run-id': found.record.id })
    }),
    route('DELETE', 'responses/:id', async (_, state) => {
      const { record } = await find(state)
      await host.delete(record.id, state.owner)
      return jsonReply({ id: state.params.id, object: 'response', deleted: true })
    }),
    route('POST', 'responses/:id/cancel', async (request, state) => {
      const found = await find(state)
      if (found.asked.isBackground !== true)
        throw new ServableError('invalid_request', 'Only a response with `background` can be cancelled')
      const record = await host.cancel(found.record.id, state.owner).catch(error => {
        if (!isServableError(error) || error.code !== 'run_ended') throw error
        return found.record
      })
      return tell({ ...found, record }, request, state)
    }),
    route('GET', 'responses/:id/input_items', async (request, state) => {
      const items = inputItemsOf(await find(state))
      return jsonReply(pageOf(items, queryOf(request.url)), { headers: NO_STORE })
    }),
  ]
}

/** The event after which a stream begins. */
function startOf(query: URLSearchParams): number {
  const text = query.get('starting_after') ?? '-1'
  if (/^(-1|\d{1,15})$/.test(text)) return Number(text)
  throw new ServableError('invalid_query', '`starting_after` must be the number of an event')
}
