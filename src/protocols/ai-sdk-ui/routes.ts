/**
 * `POST …/chat`, `GET …/chat/:id/stream` and `POST …/chat/:id/stop`, for agents, teams, workflows and the one of `{prefix}/chat`.
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
import type { Chats, Told } from './chat.ts'
import { parseChat } from './messages.ts'

/** The plugin's name. */
export const NAME = 'ai-sdk-ui'

/** Which servable a chat without a name is with. */
export interface Named {
  readonly kind: Kind
  readonly name: string
}

/** Marks the stream (AI SDK, UI message stream protocol). */
const HEADERS: ReplyHeaders = { ...SSE_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' }

type Find = (state: RequestState) => Target

/** Makes the routes. */
export function chatRoutes(core: Core, chats: Chats, named: Named | undefined): Route[] {
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
  const stream = ({ runId, source }: Told): Reply =>
    new Reply(typeof source === 'string' ? source : counted(source, openStream), {
      headers: { ...HEADERS, 'x-run-id': runId },
    })
  return [
    route('POST', '', async (request, state) => {
      const target = find(state)
      requireJson(request)
      const chat = parseChat(await readJson(request, maxBodyBytes))
      return stream(await chats.tell(chat, { target, request, state }))
    }),
    route('GET', '/:chatId/stream', async (request, state) => {
      const told = await chats.again(chatIdIn(state), { target: find(state), request, state })
      return told === undefined ? new Reply(null, { status: 204, headers: NO_STORE }) : stream(told)
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

/** The servable of chats without a name: the one that the options name, else the only one. */
function findNamed({ catalog }: Core, named: Named | undefined): Target {
  if (named !== undefined) return catalog.resolve(named.kind, named.name)
  const [only, ...others] = KINDS.flatMap(kind => catalog.entries(kind).map(({ name }) => ({ kind, name })))
  if (only !== undefined && others.length === 0) return catalog.resolve(only.kind, only.name)
  throw new ServableError(
    'agent_not_found',
    'Name an agent in the path, or in the option `agent` of `aiSdkUi`',
  )
}

/** The page shows the text of an error as it is (`DefaultChatTransport`); the code is in a header. */
async function toError(problem: Response): Promise<Response> {
  // Middleware may have made it.
  const { detail, code } = Object(await problem.json().catch(() => undefined))
  const headers = new Headers(problem.headers)
  headers.delete('content-length')
  headers.set('content-type', 'text/plain;charset=utf-8')
  if (typeof code === 'string') headers.set('x-error-code', code)
  return new Response(typeof detail === 'string' ? detail : '', { status: problem.status, headers })
}
