/**
 * `/responses`: routes that create responses, and that read, cancel and delete stored ones.
 *
 * @module
 */

import { ignoring, ServableError } from '../../../base/errors.ts'
import type { Core } from '../../../core/built-in.ts'
import type { RequestState, Route } from '../../../http/context.ts'
import { queryOf } from '../../../http/router.ts'
import { StartedRun } from '../../../http/runs/start-run.ts'
import { checkPermitOf } from '../../../runs/permit.ts'
import { jsonReply, type Reply } from '../../../web/reply.ts'
import { replyWith } from '../endpoint.ts'
import type { Models } from '../models.ts'
import type { MakeRoute } from '../routes.ts'
import { createResponse, type ResponseSettings } from './create.ts'
import { encoderOf, findKept, inputItemsOf, type KeptResponse } from './kept.ts'

/** Makes the routes, below a path. */
export function responseRoutes(
  core: Core,
  models: Models,
  making: ResponseSettings,
  route: MakeRoute,
): Route[] {
  const { host, runs } = core
  const find = async (state: RequestState): Promise<KeptResponse> => {
    const kept = await findKept(state.params.id ?? '', core, state.owner)
    state.runId = kept.record.id
    return kept
  }
  const reply = async (kept: KeptResponse, request: Request, state: RequestState): Promise<Reply> => {
    const query = queryOf(request.url)
    // A HEAD request must not follow the run, because closing its stream could end the run.
    const isStream = query.get('stream') === 'true' && request.method === 'GET'
    const { record } = kept
    const how = { ...making, maxLength: runs.maxLength, isStream, after: startOf(query) }
    const encoder = encoderOf(kept, how)
    const isAtOnce = record.status === 'queued' || record.status === 'running'
    return replyWith(new StartedRun(undefined, record, host, state.owner), encoder, core, {
      request,
      state,
      isAtOnce,
    })
  }
  return [
    route('POST', 'responses', createResponse(core, models, making)),
    route('GET', 'responses/:id', async (request, state) => reply(await find(state), request, state)),
    route('DELETE', 'responses/:id', async (_, state) => {
      const { record } = await find(state)
      await host.delete(record.id, state.owner)
      return jsonReply({ id: state.params.id, object: 'response', deleted: true })
    }),
    route('POST', 'responses/:id/cancel', async (request, state) => {
      const kept = await find(state)
      const { id } = kept.record
      if (kept.asked.isBackground !== true)
        throw new ServableError('invalid_request', 'Only a `background` response can be cancelled')
      await checkPermitOf(core.runs.permit, state, () => kept.record)
      const record = await host.cancel(id, state.owner).catch(ignoring('run_ended'))
      return reply({ ...kept, ...(record && { record }) }, request, state)
    }),
    route('GET', 'responses/:id/input_items', async (request, state) =>
      jsonReply(pageOf(inputItemsOf(await find(state)), queryOf(request.url))),
    ),
  ]
}

/** The event after which a stream begins. Throws `invalid_query`. */
function startOf(query: URLSearchParams): number {
  const text = query.get('starting_after') ?? '-1'
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new ServableError('invalid_query', '`starting_after` must be a number')
}

/** The whole list as one page. */
function pageOf(items: readonly { readonly id: string }[], query: URLSearchParams): object {
  const data = query.get('order') === 'asc' ? items : items.toReversed()
  return { object: 'list', data, first_id: data[0]?.id, last_id: data.at(-1)?.id, has_more: false }
}
