/**
 * Anthropic's Messages as a plugin: the entry `servable/anthropic`.
 *
 * Begin with `create.ts`, then `messages.ts` (what a client sends) and `encoder.ts` (what it gets). May import `core` and what is
 * below it, and no other protocol but `encoders` and `models`.
 *
 * @module
 */

import * as v from 'valibot'
import type { Context, Mounted, Plugin, PluginCore } from '../../core-entry.ts'
import { jsonReply, type ReplyHeaders } from '../../web/reply.ts'
import { checkOptions, joinPath } from '../encoders/index.ts'
import { createModels, type Offered } from '../models/offered.ts'
import { type ModelOptions, modelOptions, routesBelow } from '../models/options.ts'
import { countTokens } from './count-tokens.ts'
import { createMessage, type ToolCalls } from './create.ts'
import { toError } from './errors.ts'

/** Options of Anthropic's interface. */
export interface AnthropicOptions extends ModelOptions {
  /** Whether answers contain the calls of tools that ran here, as calls of an MCP server. Default: `mcp_tool_use`. */
  readonly toolCalls?: ToolCalls | undefined
}

const NAME = 'anthropic'

const OptionsSchema = v.strictObject({
  ...modelOptions,
  toolCalls: v.optional(v.picklist(['mcp_tool_use', 'hidden'], 'must be `mcp_tool_use` or `hidden`')),
})

/**
 * Serves agents, teams and workflows as models to clients of Anthropic's interface: `POST /anthropic/v1/messages`,
 * `/anthropic/v1/messages/count_tokens` and `GET /anthropic/v1/models`. `x-api-key` has the caller's token there, as `authorization`
 * does, and never a provider's key. Throws `invalid_options`.
 *
 * @example
 * createHandler({ serve: [helper], plugins: [anthropic({ models: { 'claude-helper': 'helper' } })] })
 */
export function anthropic(options: AnthropicOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  return { name: NAME, mount: core => mount(core, options) }
}

function mount(
  core: PluginCore,
  { path = '/anthropic', models: named, toolCalls }: AnthropicOptions,
): Mounted {
  const base = joinPath(path, 'v1')
  const models = createModels(core.catalog, named, modelOf)
  const route = routesBelow(base, toError)
  const routes = [
    route(
      'POST',
      'messages',
      createMessage(core, models, { toolCalls: toolCalls ?? 'mcp_tool_use', headersOf }),
    ),
    route('POST', 'messages/count_tokens', countTokens(core, models, headersOf)),
    route('GET', 'models', (_, context) => jsonReply(pageOf(models.list()), { headers: headersOf(context) })),
    route('GET', 'models/:id', (_, context) =>
      jsonReply(models.get(context.params.id ?? ''), { headers: headersOf(context) }),
    ),
  ]
  return {
    base: { path: base, toError, tokenHeader: 'x-api-key' },
    routes,
    describe: build => build.routes(routes, 'Anthropic'),
  }
}

/** The headers of every answer: the SDKs show the id of a request under this name. */
function headersOf({ requestId }: Context): ReplyHeaders {
  return { 'request-id': requestId }
}

/** A model as Anthropic's clients read it. */
interface Model {
  readonly type: 'model'
  readonly id: string
  readonly display_name: string
  /** The time of the first request for models. */
  readonly created_at: string
}

function modelOf({ id, createdMs }: Offered): Model {
  return { type: 'model', id, display_name: id, created_at: new Date(createdMs).toISOString() }
}

/** All models as one page. */
function pageOf(data: readonly Model[]): object {
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}
