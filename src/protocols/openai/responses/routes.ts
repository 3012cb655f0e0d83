/**
 * `/responses`: routes that create responses, and that read, cancel and delete stored ones.
 *
 * @module
 */

import {
  type Caller,
  type Context,
  callerOf,
  type PluginCore,
  type PluginRoute,
  ServableError,
} from '../../../core-entry.ts'
import { jsonReply, type Reply } from '../../../web/reply.ts'
import { ignoring, queryOf } from '../../encoders/index.ts'
import { replyWith } from '../../models/endpoint.ts'
import type { Models } from '../../models/offered.ts'
import type { MakeRoute } from '../../models/options.ts'
import { createResponse, type ResponseSettings } from './create.ts'
import { encoderOf, findKept, inputItemsOf, type KeptResponse } from './kept.ts'

/** Makes the routes, below a path. */
export function responseRoutes(
  core: PluginCore,
  models: Models,
  making: ResponseSettings,
  route: MakeRoute,
): PluginRoute[] {
  const find = ({ runs }: Caller, { params }: Context): Promise<KeptResponse> =>
    findKept(params.id ?? '', runs)
  const reply = async (kept: KeptResponse, request: Request, caller: Caller): Promise<Reply> => {
    const query = queryOf(request.url)
    // A HEAD request must not follow the run, because closing its stream could end the run.
    const isStream = query.get('stream') === 'true' && request.method === 'GET'
    const { id, status } = kept.record
    const how = { ...making, maxLength: core.maxLength, isStream, after: startOf(query) }
    const isAtOnce = status === 'queued' || status === 'running'
    return replyWith(await caller.runs.open(id), encoderOf(kept, how), { caller, request, isAtOnce })
  }
  return [
    route('POST', 'responses', createResponse(core, models, making)),
    route('GET', 'responses/:id', async (request, context) => {
      const caller = callerOf(core, request, context)
      return reply(await find(caller, context), request, caller)
    }),
    route('DELETE', 'responses/:id', async (request, context) => {
      const caller = callerOf(core, request, context)
      await caller.runs.delete((await find(caller, context)).record.id)
      return jsonReply({ id: context.params.id, object: 'response', deleted: true })
    }),
    route('POST', 'responses/:id/cancel', async (request, context) => {
      const caller = callerOf(core, request, context)
      const kept = await find(caller, context)
      if (!kept.asked.isBackground)
        throw new ServableError('invalid_request', 'Only a `background` response can be cancelled')
      const record = await caller.runs.cancel(kept.record.id).catch(ignoring('run_ended'))
      return reply({ ...kept, ...(record && { record }) }, request, caller)
    }),
    route('GET', 'responses/:id/input_items', async (request, context) =>
      jsonReply(
        pageOf(inputItemsOf(await find(callerOf(core, request, context), context)), queryOf(request.url)),
      ),
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
