/**
 * A run in the words of Chat Completions: as chunks, or as one answer.
 *
 * @module
 */

import type { InputRequest, RunEvent } from '../../../agents/contract.ts'
import { sseData } from '../../../web/sse.ts'
import { AnswerEncoder, type AnswerOptions, type End, type Spoken } from '../answer-encoder.ts'
import { errorOf } from '../errors.ts'
import { callIdOf } from '../ids.ts'

/** What a completion is about. */
export interface Completion extends AnswerOptions {
  /** The stream ends with the usage. */
  readonly tellsUsage: boolean
}

const FIELDS = { message: 'content', reasoning: 'reasoning_content' } as const

/** See the module's head. */
export class ChatEncoder extends AnswerEncoder<Completion> {
  readonly #said = { content: '', reasoning_content: '' }
  /** What comes before and after the text of a chunk: a stream is hardly anything else. */
  readonly #around: Partial<Record<string, string[]>> = {}
  /** Calls of tools of the client. */
  readonly #calls: object[] = []

  /** The first chunk: proxies wait for one. */
  begin(): string {
    return this.#chunk({ role: 'assistant', content: '' })
  }

  get answer(): object {
    const { content, reasoning_content } = this.#said
    const message = {
      ...{ role: 'assistant', content, refusal: null },
      ...(reasoning_content && { reasoning_content }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    }
    return this.#whole('', { message }, this.#reason, { usage: this.#usage })
  }

  /** There is no word for a run that somebody has cancelled: it is an error. */
  override encode(event: RunEvent): string {
    const isCancelled = event.type === 'finish' && event.finishReason === 'cancelled'
    return super.encode(isCancelled ? CANCELLED : event)
  }

  protected say(type: Spoken, text: string): string {
    const field = FIELDS[type]
    if (!this.about.isStream) {
      this.#said[field] += text
      return ''
    }
    this.#around[field] ??= this.#chunk({ [field]: '' }).split('""')
    return this.#around[field].join(JSON.stringify(text))
  }

  protected ask(
    { id, kind, toolCallId = id, toolName: name }: InputRequest,
    args: string,
  ): string | undefined {
    if (kind !== 'client_tool') return undefined
    const call = {
      id: callIdOf(this.about.runId, toolCallId),
      type: 'function',
      function: { name, arguments: args },
    }
    const index = this.#calls.push(call) - 1
    return this.#chunk({ tool_calls: [{ index, ...call }] })
  }

  protected over(end: End): string {
    const { isStream, tellsUsage } = this.about
    if (!isStream) return ''
    if (end.type === 'error') return sseData({ error: errorOf(end.error, end.code) })
    const usage = tellsUsage ? sseData({ ...this.#facts('.chunk'), choices: [], usage: this.#usage }) : ''
    return `${this.#chunk({}, this.#reason)}${usage}data: [DONE]\n\n`
  }

  get #reason(): string {
    return this.cut ?? (this.#calls.length > 0 ? 'tool_calls' : 'stop')
  }

  get #usage(): object {
    const { promptTokens, completionTokens, totalTokens } = this.usage
    return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens }
  }

  #facts(suffix: string): object {
    const { runId, createdMs, model } = this.about
    const created = Math.floor(createdMs / 1000)
    return { id: `chatcmpl-${runId}`, object: `chat.completion${suffix}`, created, model }
  }

  #whole(suffix: string, choice: object, finish_reason: string | null, usage: object | false): object {
    const choices = [{ index: 0, ...choice, logprobs: null, finish_reason }]
    return { ...this.#facts(suffix), choices, ...usage }
  }

  #chunk(delta: object, reason: string | null = null): string {
    const { isStream, tellsUsage } = this.about
    return isStream ? sseData(this.#whole('.chunk', { delta }, reason, tellsUsage && { usage: null })) : ''
  }
}

const CANCELLED = { type: 'error', code: 'run_ended', error: 'The run was cancelled' } as const
