/**
 * What the encoders of Chat Completions and of Responses share: which text is new, and what is told at the end.
 *
 * @module
 */

import type {
  FinishEvent,
  FinishReason,
  InputRequest,
  MessageEvent,
  RunEvent,
  Usage,
} from '../../agents/contract.ts'
import { lastWordsOf } from '../../agents/work/last-words.ts'
import { ServableError } from '../../base/errors.ts'
import type { Encoder } from '../encoders/encoder.ts'
import { questionOf } from '../encoders/questions.ts'
import { ToldText } from '../encoders/told-text.ts'

/** What an answer is about. */
export interface AnswerOptions {
  readonly runId: string
  /** As the client named it. */
  readonly model: string
  /** When the run began, in milliseconds since 1970. */
  readonly createdMs: number
  /** The client reads a stream. Else only the whole is made. */
  readonly isStream: boolean
  /** The answer is the structured output. */
  readonly isJson: boolean
  /** The run is a stored one, which may go on after a crash and say its text again. */
  readonly isStored: boolean
  /** Most characters of an answer. */
  readonly maxLength: number
}

/** What is said: the answer, or thoughts. */
export type Spoken = 'message' | 'reasoning'

/** The last event of a run. */
export type End = Extract<RunEvent, { type: 'finish' | 'error' }>

/** See the module's head. */
export abstract class AnswerEncoder<A extends AnswerOptions = AnswerOptions> implements Encoder {
  readonly about: A
  /** How the run has ended. */
  end: End | undefined
  readonly #told = new Map<string, ToldText>()
  #length = 0
  #hasSaid = false

  constructor(about: A) {
    this.about = about
  }

  /** What a stream begins with. */
  abstract begin(): string
  /** The whole, as far as it is told. */
  abstract get answer(): object
  /** Tells what is new of a text. */
  protected abstract say(type: Spoken, text: string): string
  /** Asks for something. Its arguments are JSON. Undefined where it is to be asked as text. */
  protected abstract ask(request: InputRequest, args: string): string | undefined
  protected abstract over(end: End): string
  /** Tells any other event. */
  protected more(_: RunEvent): string {
    return ''
  }

  /** How the answer was cut short, if it was. */
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
        return this.#say('reasoning', event.text, event.agent)
      case 'message':
        return this.#text(textIn(event), event.agent)
      case 'resumed':
        for (const told of this.#told.values()) told.resume()
        return ''
      case 'finish':
        return this.#finish(event)
      case 'error':
        return this.#over(event)
      default:
        return this.more(event)
    }
  }

  /** What is said beside the structured output is left out. */
  #text(text: string, agent: string | undefined): string {
    return this.about.isJson ? '' : this.#say('message', text, agent)
  }

  #say(type: Spoken, text: string, agent = ''): string {
    const fresh = this.about.isStored ? this.#new(type + agent, text) : text
    if (fresh === '') return ''
    this.grow(fresh)
    this.#hasSaid ||= type === 'message'
    return this.say(type, fresh)
  }

  /** What is new of a text that may come again. */
  #new(key: string, text: string): string {
    const told = this.#told.get(key) ?? new ToldText()
    this.#told.set(key, told)
    return told.add(text)
  }

  /** A tool of the client is called once the run waits for it. */
  #finish(event: FinishEvent): string {
    const { requests = [], structured } = event
    const words = lastWordsOf(event)
    let told = words === undefined ? '' : this.#text((this.#hasSaid ? '\n\n' : '') + textIn(words), undefined)
    if (structured && (this.about.isJson || !this.#hasSaid))
      told += this.#say('message', JSON.stringify(structured))
    for (const request of requests)
      told +=
        this.ask(request, textOf(request.args ?? {})) ??
        this.#say('message', (this.#hasSaid ? '\n\n' : '') + questionOf(request))
    return told + this.#over(event)
  }

  #over(end: End): string {
    this.end = end
    return this.over(end)
  }

  protected grow(text: string): void {
    this.#length += text.length
    if (this.#length > this.about.maxLength)
      throw new ServableError('run_too_large', 'The answer is too long')
  }
}

/** A text as it is, and anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The limit of steps is a length: it is no call of the client's. */
const CUT: Readonly<Partial<Record<FinishReason, 'length' | 'content_filter'>>> = {
  ...{ length: 'length', tool_calls: 'length', content_filter: 'content_filter', rejected: 'content_filter' },
}

/** The text of a message. */
function textIn({ parts }: MessageEvent): string {
  return parts.map(part => (part.type === 'text' ? part.text : '')).join('')
}
