/**
 * What a model is sent and replies, from the callbacks and parts of the AI SDK.
 *
 * @module
 */

import type { ModelCallContents } from '../../../agents/model-calls.ts'
import { fieldsOf, textIn, type UnknownFields } from '../fields.ts'

/** Most characters of the text of a reply, and most of its tool calls. The rest is cut in any case. */
const MAX_TEXT = 131_072
const MAX_CALLS = 1000

/** The calls of one run. Their replies are read in their order. */
export class KeptCalls {
  readonly #prompts: NonNullable<ModelCallContents['prompt']>[] = []
  #text = ''
  #calls: unknown[] = []

  /** Takes what the SDK tells before a step, which may be before the reply of the step before was read. Bound, as a callback. */
  readonly begin = (event: unknown): void => {
    const { promptMessages, instructions, messages, stepTools, tools } = fieldsOf(event)
    const own = instructions === undefined ? {} : { instructions }
    const sent = promptMessages === undefined ? { ...own, messages } : { messages: promptMessages }
    this.#prompts.push({ ...sent, tools: stepTools ?? tools })
  }

  /** Takes a part of a reply. */
  see({ type, text, toolCallId, toolName, input }: UnknownFields): void {
    if (type === 'text-delta' && this.#text.length < MAX_TEXT) this.#text += textIn(text) ?? ''
    if (type === 'tool-call' && this.#calls.length < MAX_CALLS)
      this.#calls.push({ toolCallId, toolName, input })
  }

  /** The call whose reply has ended. */
  next(finishReason: string | undefined): ModelCallContents {
    const prompt = this.#prompts.shift()
    const reply = {
      text: this.#text,
      ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
      ...(finishReason !== undefined && { finishReason }),
    }
    this.#text = ''
    this.#calls = []
    return { ...(prompt && { prompt }), reply }
  }
}
