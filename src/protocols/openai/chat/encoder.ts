/**
 * Encodes a run for Chat Completions: as chunks, or as one answer.
 *
 * @module
 */

import type { InputRequest, RunEvent } from '../../../core-entry.ts'
import { sseData } from '../../../web/sse.ts'
import {
  AnswerEncoder,
  type AnswerOptions,
  CANCELLED,
  isCancelled,
  type LastEvent,
  type OutputKind,
} from '../../models/answer-encoder.ts'
import { callIdOf } from '../../models/ids.ts'
import { errorOf } from '../errors.ts'

/** The facts that a completion contains or depends on. */
export interface Completion extends AnswerOptions {
  /** Whether the stream ends with the usage. */
  readonly includesUsage: boolean
}

const FIELDS = { message: 'content', reasoning: 'reasoning_content' } as const

/** Encodes the events of one run. */
export class ChatEncoder extends AnswerEncoder<Completion> {
  readonly #text = { content: '', reasoning_content: '' }
  /** The JSON before and after the text of a chunk, by field. Making it once saves time, because most chunks are text. */
  readonly #templates: Partial<Record<string, string[]>> = {}
  /** Calls of the client's tools. */
  readonly #calls: object[] = []

  /** Sends a chunk at once, because proxies wait for the first one. */
  begin(): string {
    return this.#chunk({ role: 'assistant', content: '' })
  }

  get answer(): object {
    const { content, reasoning_content } = this.#text
    const message = {
      ...{ role: 'assistant', content, refusal: null },
      ...(reasoning_content && { reasoning_content }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    }
    return this.#whole('', { message }, this.#reason, { usage: this.#usage })
  }

  /** Chat Completions has no finish reason for a cancelled run, so it becomes an error. */
  override encode(event: RunEvent): string {
    return super.encode(isCancelled(event) ? CANCELLED : event)
  }

  protected writeText(type: OutputKind, text: string): string {
    const field = FIELDS[type]
    if (!this.about.isStream) {
      this.#text[field] += text
      return ''
    }
    this.#templates[field] ??= this.#chunk({ [field]: '' }).split('""')
    return this.#templates[field].join(JSON.stringify(text))
  }

  protected writeRequest(
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

  protected writeEnd(end: LastEvent): string {
    const { isStream, includesUsage } = this.about
    if (!isStream) return ''
    if (end.type === 'error') return sseData({ error: errorOf(end.error, end.code) })
    const usage = includesUsage ? sseData({ ...this.#facts('.chunk'), choices: [], usage: this.#usage }) : ''
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
    const { isStream, includesUsage } = this.about
    return isStream ? sseData(this.#whole('.chunk', { delta }, reason, includesUsage && { usage: null })) : ''
  }
}
