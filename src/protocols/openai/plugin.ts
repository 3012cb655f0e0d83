/**
 * Chat Completions and Responses as a plugin: the entry `servable/openai`.
 *
 * Begin with `models/endpoint.ts`, then `chat/` and `responses/`, which share `models/answer-encoder.ts`. May import `core` and what is below
 * it, and no other protocol but `encoders` and `models`.
 *
 * @module
 */

import * as v from 'valibot'
import type { Plugin } from '../../core-entry.ts'
import { checkOptions, flag } from '../encoders/index.ts'
import { type ModelOptions, modelOptions } from '../models/options.ts'
import { responseRoutes } from './responses/routes.ts'
import { mountModels } from './routes.ts'

/** Options of models, with responses. */
export interface OpenAiOptions extends ModelOptions {
  /**
   * Whether responses contain the calls of tools that ran here, as calls of an MCP server. Default: `mcp_call`. Chat Completions
   * never contains them.
   */
  readonly toolCalls?: 'mcp_call' | 'hidden' | undefined
  /**
   * Whether responses are stored if the request does not say so, for as long as runs are stored. Default: true, as OpenAI does.
   */
  readonly store?: boolean | undefined
}

const NAME = 'openai'

const OptionsSchema = v.strictObject({
  ...modelOptions,
  toolCalls: v.optional(v.picklist(['mcp_call', 'hidden'], 'must be `mcp_call` or `hidden`')),
  store: v.optional(flag),
})

/**
 * Serves agents, teams and workflows as models to clients of OpenAI's interface: `GET /v1/models`, `POST /v1/chat/completions`
 * and `/v1/responses`. Throws `invalid_options`.
 */
export function openai(options: OpenAiOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { toolCalls = 'mcp_call', store = true } = options
  return {
    name: NAME,
    mount: core =>
      mountModels(core, options, (models, route) =>
        responseRoutes(core, models, { toolCalls, store }, route),
      ),
  }
}
