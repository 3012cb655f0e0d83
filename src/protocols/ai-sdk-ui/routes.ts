/**
 * `POST …/chat`, `GET …/chat/:id/stream` and `POST …/chat/:id/stop`, for agents, teams, workflows and `{prefix}/chat`.
 *
 * @module
 */

import {
  type Context,
  callerOf,
  type Kind,
  type PluginCore,
  type PluginRoute,
  ServableError,
  type Target,
} from '../../core-entry.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { Reply } from '../../web/reply.ts'
import { idText, joinPath, KINDS, validate } from '../encoders/index.ts'
import type { Chats } from './chat.ts'
import { parseChat } from './messages.ts'

/** The plugin's name. */
export const NAME = 'ai-sdk-ui'

/** The servable of chats without a name in their path. */
export interface NamedServable {
  readonly kind: Kind
  readonly name: string
}

type Find = (context: Context) => Target

/** Makes the routes. */
export function chatRoutes(core: PluginCore, chats: Chats, named: NamedServable | undefined): PluginRoute[] {
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

function routesAt(path: string, core: PluginCore, chats: Chats, find: Find): PluginRoute[] {
  const route = (
    method: PluginRoute['method'],
    suffix: string,
    endpoint: PluginRoute['endpoint'],
  ): PluginRoute => ({
    method,
    path: `${path}${suffix}`,
    toError,
    endpoint,
  })
  const chatOf = (request: Request, context: Context) => ({
    target: find(context),
    caller: callerOf(core, request, context),
    context,
  })
  return [
    route('POST', '', async (request, context) => {
      const asking = chatOf(request, context)
      requireJson(request)
      return chats.answer(parseChat(await readJson(request, core.maxBodyBytes)), asking)
    }),
    route('GET', '/:chatId/stream', async (request, context) => {
      const answer = await chats.reconnect(chatIdIn(context), chatOf(request, context))
      return answer ?? new Reply(null, { status: 204, headers: NO_STORE })
    }),
    route('POST', '/:chatId/stop', async (request, context) => {
      await chats.stop(chatIdIn(context), chatOf(request, context))
      return new Reply(null, { status: 204, headers: NO_STORE })
    }),
  ]
}

const NO_STORE = { 'cache-control': 'no-store' }

function chatIdIn({ params }: Context): string {
  return validate(idText, params.chatId, 'invalid_path', 'chatId')
}

/** The servable of chats without a name in their path: the one of the options, else the only one. */
function findNamed({ catalog }: PluginCore, named: NamedServable | undefined): Target {
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
