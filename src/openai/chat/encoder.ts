/**
 * A run in the words of Chat Completions: as chunks, or as one answer.
 *
 * @module
 */

import type { ErrorEvent, FinishReason, InputRequest } from '../../agents/contract.ts'
import { sseData } from '../../encoders/encoder.ts'
import { ServableError } from '../../errors.ts'
import { errorOf } from '../errors.ts'
import { callIdOf } from '../ids.ts'
import { CUT, type End, type Spoken, Teller, type Telling, usageIn } from '../teller.ts'

/** What a completion is about. */
export interface Completion extends Telling {
  /** The stream ends with the usage. */
  readonly tellsUsage: boolean
}

/** See the module's head. */
export class ChatEncoder extends Teller<Completion> {
  readonly #said = { message: '', reasoning: '' }
  /** Calls of tools of the client. */
  readonly #calls: object[] = []
  /** What all chunks begin with. */
  readonly #head = `data: ${JSON.stringify(this.#facts('chat.completion.chunk')).slice(0, -1)},"choices":[`

  /** The first chunk: proxies wait for one. */
  begin(): string {
    return this.#chunk('{"role":"assistant","content":""}')
  }

  /** Throws `run_ended` where somebody has cancelled the run. */
  get answer(): object {
    const { message: content, reasoning: reasoning_content } = this.#said
    const tool_calls = this.#calls
    if (this.#isCancelled) throw new ServableError('run_ended', CANCELLED)
    const hasCalls = tool_calls.length > 0
    const message = {
      ...{ role: 'assistant', content: content || (hasCalls ? null : ''), refusal: null },
      ...(reasoning_content && { reasoning_content }),
      ...(hasCalls && { tool_calls }),
    }
    return {
      ...this.#facts('chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#reason }],
      usage: this.#usage,
    }
  }

  protected say(type: Spoken, text: string): string {
    this.#said[type] += this.about.isStream ? '' : text
    const field = type === 'message' ? 'content' : 'reasoning_content'
    return this.#chunk(`{"${field}":${JSON.stringify(text)}}`)
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
    return this.#chunk(JSON.stringify({ tool_calls: [{ index, ...call }] }))
  }

  protected over(end: End): string {
    if (!this.about.isStream) return ''
    const { code, error } = this.#isCancelled ? { code: 'cancelled', error: CANCELLED } : (end as ErrorEvent)
    if (code) return sseData({ error: errorOf(error, code) })
    const usage = this.about.tellsUsage ? `${this.#head}],"usage":${JSON.stringify(this.#usage)}}\n\n` : ''
    return `${this.#chunk('{}', `"${this.#reason}"`)}${usage}data: [DONE]\n\n`
  }

  get #finishReason(): FinishReason {
    return this.end?.type === 'finish' ? this.end.finishReason : 'stop'
  }

  get #isCancelled(): boolean {
    return this.#finishReason === 'cancelled'
  }

  get #reason(): string {
    return CUT[this.#finishReason] ?? (this.#calls.length > 0 ? 'tool_calls' : 'stop')
  }

  get #usage(): object {
    const { promptTokens, completionTokens, totalTokens } = usageIn(this.end)
    return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens }
  }

  /** What an answer and all chunks begin with. */
  #facts(object: string): object {
    const { runId, createdMs, model } = this.about
    return { id: `chatcmpl-${runId}`, object, created: Math.floor(createdMs / 1000), model }
  }

  #chunk(delta: string, reason: string | null = null): string {
    if (!this.about.isStream) return ''
    const usage = this.about.tellsUsage ? ',"usage":null' : ''
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}]${usage}}\n\n`
  }
}

const CANCELLED = 'The run was cancelled'
