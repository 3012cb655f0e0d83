/**
 * `POST /chat/completions`.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, PluginCore, PluginRoute } from '../../../core-entry.ts'
import { answeredOnly, askedRunOf, validate } from '../../encoders/index.ts'
import { answersTo } from '../../models/answers.ts'
import { type Fields, objects } from '../../models/body.ts'
import { endpointOf } from '../../models/endpoint.ts'
import type { Models } from '../../models/offered.ts'
import { asksJson, type CommonBody, clientToolsOf, commonFields } from '../body.ts'
import { idFor, messageOf, splitInput } from '../messages.ts'
import { ChatEncoder } from './encoder.ts'

/** The body of a request. */
export interface CompletionBody extends CommonBody {
  readonly messages: readonly Fields[]
}

/** The schema of a body. */
export const CompletionBodySchema: v.GenericSchema<unknown, CompletionBody> = v.object({
  ...commonFields,
  messages: objects,
  n: v.optional(v.picklist([1], 'must be 1')),
})

/** Answers a conversation that the client remembers. */
export function completeChat(core: PluginCore, models: Models): PluginRoute['endpoint'] {
  return endpointOf(core, async (json, { runs }) => {
    const body = validate(CompletionBodySchema, json, 'invalid_body', 'body')
    const { model, stream: isStream = false } = body
    const { messages: _, tools: __, ...openai } = json
    const { response_format: format, stream_options: options } = openai
    const target = models.resolve(model)
    const messages = body.messages.map((message, at) => messageOf(message, `messages.${at}`))
    const { input, earlier, given } = splitInput(messages, 'messages')
    const clientTools = clientToolsOf(body)
    const about = {
      ...{ model, isStream, isJson: asksJson(format, target, 'response_format') },
      includesUsage: Object(options).include_usage === true,
    }
    return {
      how: { metadata: { openai } },
      answers: given.length > 0 ? await answersTo({ given, earlier, target, idFor }, runs) : undefined,
      async asked() {
        const history = () => answeredOnly(earlier as HistoryMessage[])
        return askedRunOf({ input, history, clientTools }, target)
      },
      toEncoder: facts => new ChatEncoder({ ...facts, ...about }),
    }
  })
}
