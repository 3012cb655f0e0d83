/**
 * Chat Completions alone as a plugin: the entry `servable/openai/chat-completions`.
 *
 * @module
 */

import * as v from 'valibot'
import type { Plugin } from '../../core-entry.ts'
import { checkOptions } from '../encoders/index.ts'
import { type ModelOptions, modelOptions } from '../models/options.ts'
import { mountModels } from './routes.ts'

export type { ModelOptions } from '../models/options.ts'

const NAME = 'chat-completions'

const OptionsSchema = v.strictObject(modelOptions)

/**
 * Serves agents, teams and workflows as models to clients of OpenAI's Chat Completions: `GET /v1/models` and
 * `POST /v1/chat/completions`. Throws `invalid_options`.
 */
export function chatCompletions(options: ModelOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  return { name: NAME, mount: core => mountModels(core, options) }
}
