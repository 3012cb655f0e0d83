/**
 * The base of the encoders of protocols that offer servables as models. It finds the new part of repeated text, and orders the end.
 *
 * The room `models` is what `openai` and `anthropic` share. Begin with `endpoint.ts`. May import `core` and what is below it, and no
 * other protocol but `encoders`.
 *
 * @module
 */

import {
  type Encoder,
  type FinishEvent,
  type FinishReason,
  type InputRequest,
  type MessageEvent,
  type RunEvent,
  ServableError,
  type Usage,
} from '../../core-entry.ts'
import { endMessageOf, questionOf, SentText } from '../encoders/index.ts'

/** The facts that an answer contains or depends on. */
export interface AnswerOptions {
  readonly runId: string
  /** The name of the model, as the client gave it. */
  readonly model: string
  /** When the run began, in milliseconds since 1970. */
  readonly createdMs: number
  /** Whether the client reads a stream. Otherwise only the whole answer is made. */
  readonly isStream: boolean
  /** Whether the answer is the structured output. */
  readonly isJson: boolean
  /** Whether the run is stored. A stored run may continue after a crash and repeat its text. */
  readonly isStored: boolean
  /** Most characters of an answer. */
  readonly maxLength: number
}

/** The kind of a text: the answer, or thoughts. */
export type OutputKind = 'message' | 'reasoning'

/** The last event of a run. */
export type LastEvent = Extract<RunEvent, { type: 'finish' | 'error' }>

/** Encodes the events of a run for one protocol. */
export abstract class AnswerEncoder<A extends AnswerOptions = AnswerOptions> implements Encoder {
  readonly about: A
  /** The last event of the run, once it has ended. */
  end: LastEvent | undefined
  /** What is sent while the run says nothing. Undefined: a comment. */
  readonly keepAlive?: string
  readonly #sent = new Map<string, SentText>()
  #length = 0
  #hasText = false

  constructor(about: A) {
    this.about = about
  }

  /** Returns the first events of a stream. */
  abstract begin(): string
  /** The whole answer so far. */
  abstract get answer(): object
  /** Encodes new text. */
  protected abstract writeText(type: OutputKind, text: string): string
  /** Encodes a request, whose arguments are JSON. Undefined if the request must be written as text. */
  protected abstract writeRequest(request: InputRequest, args: string): string | undefined
  /** Encodes the end of the run. */
  protected abstract writeEnd(end: LastEvent): string
  /** Encodes the structured output. */
  protected writeStructured(structured: unknown): string {
    return this.#write('message', JSON.stringify(structured))
  }
  /** Encodes any other event. */
  protected writeOther(_: RunEvent): string {
    return ''
  }

  /** The reason why the answer was cut short, if it was. */
  protected get cut(): 'length' | 'content_filter' | undefined {
    return this.end?.type === 'finish' ? CUT[this.end.finishReason] : undefined
  }

  protected get usage(): Usage {
    const none = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
    return { ...none, ...(this.end as FinishEvent | undefined)?.usage }
  }

  encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.#text(event.text, event.agent)
      case 'thinking':
        return this.#write('reasoning', event.text, event.agent)
      case 'message':
        return this.#text(textIn(event), event.agent)
      case 'resumed':
        for (const text of this.#sent.values()) text.resume()
        return ''
      case 'finish':
        return this.#finish(event)
      case 'error':
        return this.#over(event)
      default:
        return this.writeOther(event)
    }
  }

  /** Text beside the structured output is left out. */
  #text(text: string, agent: string | undefined): string {
    return this.about.isJson ? '' : this.#write('message', text, agent)
  }

  #write(type: OutputKind, text: string, agent = ''): string {
    const fresh = this.about.isStored ? this.#new(type + agent, text) : text
    if (fresh === '') return ''
    this.grow(fresh)
    this.#hasText ||= type === 'message'
    return this.writeText(type, fresh)
  }

  /** The new part of a text that the run may repeat. */
  #new(key: string, text: string): string {
    const sent = this.#sent.get(key) ?? new SentText()
    this.#sent.set(key, sent)
    return sent.add(text)
  }

  /** Encodes the end. Calls of the client's tools come here, once the run waits for them. */
  #finish(event: FinishEvent): string {
    const { requests = [], structured } = event
    const words = endMessageOf(event)
    let output =
      words === undefined ? '' : this.#text((this.#hasText ? '\n\n' : '') + textIn(words), undefined)
    if (structured && (this.about.isJson || !this.#hasText)) output += this.writeStructured(structured)
    for (const request of requests)
      output +=
        this.writeRequest(request, textOf(request.args ?? {})) ??
        this.#write('message', (this.#hasText ? '\n\n' : '') + questionOf(request))
    return output + this.#over(event)
  }

  #over(end: LastEvent): string {
    this.end = end
    return this.writeEnd(end)
  }

  protected grow(text: string): void {
    this.#length += text.length
    if (this.#length > this.about.maxLength)
      throw new ServableError('run_too_large', 'The answer is too long')
  }
}

/** The end of a cancelled run, for protocols that have no word for it. */
export const CANCELLED = { type: 'error', code: 'run_ended', error: 'The run was cancelled' } as const

/** Whether an event is the end of a cancelled run. */
export function isCancelled(event: RunEvent): boolean {
  return event.type === 'finish' && event.finishReason === 'cancelled'
}

/** Text as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** `tool_calls` means that the limit of steps was reached, which is a length, and not that the client has to run a tool. */
const CUT: Readonly<Partial<Record<FinishReason, 'length' | 'content_filter'>>> = {
  ...{ length: 'length', tool_calls: 'length', content_filter: 'content_filter', rejected: 'content_filter' },
}

/** The text of a message. */
function textIn({ parts }: MessageEvent): string {
  return parts.map(part => (part.type === 'text' ? part.text : '')).join('')
}
