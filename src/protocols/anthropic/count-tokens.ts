/**
 * `POST /messages/count_tokens`. No run starts.
 *
 * @module
 */

import type { Context, PluginCore, PluginRoute } from '../../core-entry.ts'
import { jsonReply, type ReplyHeaders } from '../../web/reply.ts'
import { validate } from '../encoders/index.ts'
import { readBody } from '../models/endpoint.ts'
import type { Models } from '../models/offered.ts'
import { MessagesBodySchema } from './body.ts'

/** Characters of a token, about. */
const CHARACTERS = 4

/** Estimates the tokens of a request by its length. */
export function countTokens(
  core: PluginCore,
  models: Models,
  headersOf: (context: Context) => ReplyHeaders,
): PluginRoute['endpoint'] {
  return async (request, context) => {
    const body = await readBody(request, core)
    const { model, messages, system, tools } = validate(MessagesBodySchema, body, 'invalid_body', 'body')
    models.resolve(model)
    const { length } = JSON.stringify([messages, system, tools])
    return jsonReply({ input_tokens: Math.ceil(length / CHARACTERS) }, { headers: headersOf(context) })
  }
}
