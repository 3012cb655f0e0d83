/**
 * A run in the words of Chat Completions: as chunks, or as one answer.
 *
 * @module
 */

import { sseData } from '../../encoders/encoder.ts'
import { ServableError } from '../../errors.ts'
import { errorOf } from '../errors.ts'
import { callIdOf, idOf } from '../ids.ts'
import { type Call, cutBy, type End, type Spoken, Teller, type Telling, usageIn } from '../teller.ts'

/** What a completion is about. */
export interface Completion extends Telling {
  /** The stream ends with the usage. */
  readonly tellsUsage: boolean
}

const FIELDS = { message: 'content', reasoning: 'reasoning_content' } as const

/** See the module's head. */
export class ChatEncoder extends Teller<Completion> {
  readonly #said = { message: '', reasoning: '' }
  /** Calls of tools of the client. */
  readonly #calls: Call[] = []
  /** What all chunks begin with. */
  readonly #head: string

  constructor(about: Completion) {
    super(about)
    this.#head = `data: ${JSON.stringify(this.#facts('chat.completion.chunk')).slice(0, -1)},"choices":[`
  }

  /** The first chunk: proxies wait for one. */
  begin(): string {
    return this.#chunk('{"role":"assistant","content":""}')
  }

  /** Throws `run_ended` where somebody has cancelled the run. */
  get answer(): object {
    const { end } = this
    if (end === undefined || this.#isCancelled(end)) throw new ServableError('run_ended', CANCELLED)
    const { message: content, reasoning: reasoning_content } = this.#said
    const tool_calls = this.#calls.map(call => this.#toolCall(call, call.args))
    const message = {
      role: 'assistant',
      content: content === '' && tool_calls.length > 0 ? null : content,
      refusal: null,
      ...(reasoning_content !== '' && { reasoning_content }),
      ...(tool_calls.length > 0 && { tool_calls }),
    }
    return {
      ...this.#facts('chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#reason(end) }],
      usage: usageOf(end),
    }
  }

  protected say(type: Spoken, text: string): string {
    if (this.about.isStream) return this.#chunk(`{"${FIELDS[type]}":${JSON.stringify(text)}}`)
    this.#said[type] += text
    return ''
  }

  protected called(call: Call): string {
    call.index = this.#calls.push(call) - 1
    return this.#tellCall(call, this.#toolCall(call, ''))
  }

  protected argued(call: Call, args: string): string {
    return this.#tellCall(call, { function: { arguments: args } })
  }

  protected over(end: End): string {
    if (!this.about.isStream) return ''
    if (end.type === 'error') return sseData({ error: errorOf(end.error, end.code) })
    if (this.#isCancelled(end)) return sseData({ error: errorOf(CANCELLED, 'cancelled') })
    const usage = this.about.tellsUsage ? `${this.#head}],"usage":${JSON.stringify(usageOf(end))}}\n\n` : ''
    return `${this.#chunk('{}', this.#reason(end))}${usage}data: [DONE]\n\n`
  }

  #facts(object: string): object {
    const { runId, createdMs, model } = this.about
    const id = idOf('chatcmpl', runId).replace('_', '-')
    return { id, object, created: Math.floor(createdMs / 1000), model }
  }

  #isCancelled(end: End): boolean {
    return end.type === 'finish' && end.finishReason === 'cancelled'
  }

  #reason(end: End): string {
    const cut = end.type === 'finish' ? cutBy(end) : undefined
    return cut ?? (this.#calls.length > 0 ? 'tool_calls' : 'stop')
  }

  #toolCall({ id, name }: Call, args: string): object {
    return { id: callIdOf(this.about.runId, id), type: 'function', function: { name, arguments: args } }
  }

  #tellCall({ index }: Call, call: object): string {
    return this.about.isStream ? this.#chunk(JSON.stringify({ tool_calls: [{ index, ...call }] })) : ''
  }

  #chunk(delta: string, reason?: string): string {
    const finish = reason === undefined ? null : `"${reason}"`
    const usage = this.about.tellsUsage ? ',"usage":null' : ''
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${usage}}\n\n`
  }
}

const CANCELLED = 'The run was cancelled'

function usageOf(end: End): object {
  const { promptTokens, completionTokens, totalTokens } = usageIn(end)
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens }
}
