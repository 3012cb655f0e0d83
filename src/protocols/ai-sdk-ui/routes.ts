/**
 * `POST …/chat`, `GET …/chat/:id/stream` and `POST …/chat/:id/stop`, for agents, teams, workflows and `{prefix}/chat`.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import { validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import type { Target } from '../../runs/target.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { Reply, type ReplyHeaders } from '../../web/reply.ts'
import { counted, SSE_HEADERS } from '../../web/sse.ts'
import { idText } from '../encoders/conversation.ts'
import type { ChatAnswer, Chats } from './chat.ts'
import { parseChat } from './messages.ts'

/** The plugin's name. */
export const NAME = 'ai-sdk-ui'

/** The servable of chats without a name in their path. */
export interface NamedServable {
  readonly kind: Kind
  readonly name: string
}

/** Marks the stream (AI SDK, UI message stream protocol). */
const HEADERS: ReplyHeaders = { ...SSE_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' }

type Find = (state: RequestState) => Target

/** Makes the routes. */
export function chatRoutes(core: Core, chats: Chats, named: NamedServable | undefined): Route[] {
  const { prefix, catalog } = core
  return [
    ...KINDS.flatMap(kind =>
      routesAt(joinPath(prefix, `${kind}s`, ':name', 'chat'), core, chats, ({ params }) =>
        catalog.resolve(kind, params.name ?? ''),
      ),
    ),
    ...routesAt(joinPath(prefix, 'chat'), core, chats, () => findNamed(core, named)),
  ]
}

function routesAt(path: string, { maxBodyBytes, openStream }: Core, chats: Chats, find: Find): Route[] {
  const route = (method: Route['method'], suffix: string, endpoint: Route['endpoint']): Route => ({
    method,
    path: `${path}${suffix}`,
    part: NAME,
    toError,
    endpoint,
  })
  const stream = ({ runId, source }: ChatAnswer): Reply =>
    new Reply(typeof source === 'string' ? source : counted(source, openStream), {
      headers: { ...HEADERS, 'x-run-id': runId },
    })
  return [
    route('POST', '', async (request, state) => {
      const target = find(state)
      requireJson(request)
      const chat = parseChat(await readJson(request, maxBodyBytes))
      return stream(await chats.answer(chat, { target, request, state }))
    }),
    route('GET', '/:chatId/stream', async (request, state) => {
      const answer = await chats.reconnect(chatIdIn(state), { target: find(state), request, state })
      return answer === undefined ? new Reply(null, { status: 204, headers: NO_STORE }) : stream(answer)
    }),
    route('POST', '/:chatId/stop', async (request, state) => {
      await chats.stop(chatIdIn(state), { target: find(state), request, state })
      return new Reply(null, { status: 204, headers: NO_STORE })
    }),
  ]
}

const NO_STORE = { 'cache-control': 'no-store' }

function chatIdIn({ params }: RequestState): string {
  return validate(idText, params.chatId, 'invalid_path', 'chatId')
}

/** The servable of chats without a name in their path: the one of the options, else the only one. */
function findNamed({ catalog }: Core, named: NamedServable | undefined): Target {
  if (named !== undefined) return catalog.resolve(named.kind, named.name)
  const [only, ...others] = KINDS.flatMap(kind => catalog.entries(kind).map(({ name }) => ({ kind, name })))
  if (only !== undefined && others.length === 0) return catalog.resolve(only.kind, only.name)
  throw new ServableError(
    'agent_not_found',
    'Name an agent in the path, or in the option `agent` of `aiSdkUi`',
  )
}

/** Makes the body the text of the error, because the page shows it as it is (`DefaultChatTransport`). The code is in a header. */
async function toError(problem: Response): Promise<Response> {
  // Middleware may have made the response, without these members.
  const { detail, code } = Object(await problem.json().catch(() => undefined))
  const headers = new Headers(problem.headers)
  headers.delete('content-length')
  headers.set('content-type', 'text/plain;charset=utf-8')
  if (typeof code === 'string') headers.set('x-error-code', code)
  return new Response(typeof detail === 'string' ? detail : '', { status: problem.status, headers })
}
