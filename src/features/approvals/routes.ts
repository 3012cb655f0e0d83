/**
 * `GET /approvals`: the requests that wait for a person, as a page or as a stream of changes. `GET /approvals/:id`: one of them,
 * with the messages before it.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { paging, validate } from '../../base/validation.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { runIdOf } from '../../http/routes/stored-run-routes.ts'
import { createLiveList } from '../../http/runs/live-list.ts'
import { acceptsEvents } from '../../http/runs/run-request.ts'
import { openToRole } from '../../http/security/open-to-role.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import { jsonReply } from '../../web/reply.ts'
import { SSE_HEADERS } from '../../web/sse.ts'
import type { ApprovalService } from './service.ts'
import { LiveInbox, MAX_WATCHED } from './watch.ts'

const QuerySchema = v.object({
  kind: v.optional(
    v.picklist(['approval', 'question', 'client_tool'], 'must be one of approval, question, client_tool'),
    'approval',
  ),
  whose: v.optional(v.picklist(['mine', 'others'], 'must be mine or others'), 'mine'),
  ...paging,
})

/** Makes the route. */
export function approvalRoutes(prefix: string, approvals: ApprovalService, host: RunHost): Route[] {
  const openStream = createLiveList()
  return [
    {
      method: 'GET',
      path: joinPath(prefix, 'approvals', ':id'),
      part: 'approvals',
      async endpoint(_, state) {
        const approver = approverOf(state)
        return jsonReply(await approvals.read(host, runIdOf(state), approver), {
          headers: { 'cache-control': 'no-store' },
        })
      },
    },
    {
      method: 'GET',
      path: joinPath(prefix, 'approvals'),
      part: 'approvals',
      async endpoint(request, state) {
        const approver = approverOf(state)
        const parameters = Object.fromEntries(queryOf(request.url))
        const query = validate(QuerySchema, parameters, 'invalid_query', 'query')
        if (!acceptsEvents(request.headers)) {
          return jsonReply(await approvals.page(query, approver), {
            headers: { 'cache-control': 'no-store' },
          })
        }
        if (request.method === 'HEAD') return new Response(null, { headers: SSE_HEADERS })
        const { kind, whose } = query
        const look = async () => {
          const page = await approvals.page({ kind, whose, limit: MAX_WATCHED }, approver)
          return { approvals: page.approvals, hasMore: page.nextCursor !== null }
        }
        const onError = (error: unknown) => state.logThrown('stream.failed', error, request)
        const stream = openStream(new LiveInbox(look), onError)
        return state.may('answer') ? openToRole(state.respond(stream)) : stream
      },
    },
  ]
}

function approverOf({ identity, ip, requestId }: RequestState) {
  if (identity !== undefined) return { identity, ip, requestId }
  throw new ServableError('not_found', 'What waits is listed to authenticated users')
}
