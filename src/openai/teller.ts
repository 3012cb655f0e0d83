/**
 * What the encoders of Chat Completions and of Responses share: which text is new, the calls of tools, and what is asked at the end.
 *
 * @module
 */

import type { FinishEvent, InputRequest, RunEvent, Usage } from '../agents/contract.ts'
import type { Encoder } from '../encoders/encoder.ts'
import { questionOf } from '../encoders/questions.ts'
import { ToldText } from '../encoders/told-text.ts'
import { ServableError } from '../errors.ts'
import { sayingOf } from './parts.ts'

/** What an answer is about. */
export interface Telling {
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
  /** What was answered for this run: the client has these calls. */
  readonly answered: readonly InputRequest[]
}

/** Who says something: the answer, or thoughts. */
export type Spoken = 'message' | 'reasoning'

/** A call of a tool. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly isOfClient: boolean
  args: string
  isReady: boolean
  /** Its place among what was told, of a call of the client's. */
  index: number
  /** The request for an approval of it, where that is answered. */
  readonly approval?: InputRequest
}

/** The last event of a run. */
export type End = Extract<RunEvent, { type: 'finish' | 'error' }>

/** See the module's head. */
export abstract class Teller<A extends Telling = Telling> implements Encoder {
  readonly about: A
  /** How the run has ended. */
  end: End | undefined
  readonly #told = new Map<string, ToldText>()
  readonly #calls = new Map<string, Call>()
  #length = 0
  #hasSaid = false

  constructor(about: A) {
    this.about = about
    for (const request of about.answered) {
      const { id, kind, toolCallId = id, toolName = '', args } = request
      const call = callOf(toolCallId, toolName, kind === 'client_tool', textOf(args), request)
      this.#calls.set(toolCallId, { ...call, isReady: true })
    }
  }

  /** What a stream begins with. */
  abstract begin(): string
  /** The whole, as far as it is told. */
  abstract get answer(): object
  /** Tells what is new of a text. `isOther`: it is the beginning of another text than the one before. */
  protected abstract say(type: Spoken, text: string, agent: string, isOther: boolean): string
  /** Tells that a tool of the client is called, more of the arguments, and that they are complete. */
  protected abstract called(call: Call): string
  protected abstract argued(call: Call, args: string): string
  protected ready(_: Call): string {
    return ''
  }
  /** Tells that a tool has run here. */
  protected ran(_: Call, __: Extract<RunEvent, { type: 'tool_call_end' }>): string {
    return ''
  }
  /** Asks for an approval; undefined where that is told as text. */
  protected approval(_: InputRequest, __: string): string | undefined {
    return undefined
  }
  protected abstract over(end: End): string

  encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.about.isJson ? '' : this.#say('message', event.text, event.agent)
      case 'thinking':
        return this.#say('reasoning', event.text, event.agent)
      case 'message':
        return this.about.isJson ? '' : this.#say('message', event.parts.map(sayingOf).join(''), event.agent)
      case 'tool_call_start':
        return this.#begin(event.toolCall.id, event.toolCall.name, event.isClientTool)
      case 'tool_call_delta':
        // A stored run may tell them again.
        return this.about.isStored ? '' : this.#argue(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#ran(event)
      case 'resumed':
        for (const told of this.#told.values()) told.resume()
        return ''
      case 'finish':
        return this.#finish(event)
      case 'error':
        return this.#over(event)
      default:
        return ''
    }
  }

  #say(type: Spoken, text: string, agent = ''): string {
    const key = type + agent
    let told: ToldText | undefined
    if (this.about.isStored) {
      told = this.#told.get(key) ?? new ToldText()
      this.#told.set(key, told)
    }
    const fresh = told?.add(text) ?? text
    if (fresh === '') return ''
    this.grow(fresh)
    if (type === 'message') this.#hasSaid = true
    return this.say(type, fresh, agent, told?.isOther === true)
  }

  #begin(id: string, name: string, isOfClient = false): string {
    if (this.#calls.has(id)) return ''
    const call = callOf(id, name, isOfClient)
    this.#calls.set(id, call)
    return isOfClient ? this.called(call) : ''
  }

  #argue(id: string, args: string): string {
    const call = this.#calls.get(id)
    if (call === undefined || call.isReady || args === '') return ''
    this.grow(args)
    call.args += args
    return call.isOfClient ? this.argued(call, args) : ''
  }

  #ready(id: string, args: unknown): string {
    const call = this.#calls.get(id)
    if (call === undefined || call.isReady) return ''
    const told = call.args === '' ? this.#argue(id, textOf(args)) : ''
    call.isReady = true
    return call.isOfClient ? told + this.ready(call) : told
  }

  #ran(event: Extract<RunEvent, { type: 'tool_call_end' }>): string {
    const call = this.#calls.get(event.toolCallId)
    if (call === undefined || call.isOfClient) return ''
    const told = this.ran(call, event)
    this.#calls.delete(event.toolCallId)
    return told
  }

  #finish(event: FinishEvent): string {
    const { requests = [], structured } = event
    let told = ''
    if (structured && (this.about.isJson || !this.#hasSaid))
      told += this.#say('message', JSON.stringify(structured))
    for (const request of requests) {
      const { id, kind, toolCallId = id, toolName = '', args } = request
      told +=
        kind === 'client_tool'
          ? this.#begin(toolCallId, toolName, true) + this.#ready(toolCallId, args)
          : ((kind === 'approval' ? this.approval(request, textOf(args)) : undefined) ??
            this.#say('message', (this.#hasSaid ? '\n\n' : '') + questionOf(request)))
    }
    return told + this.#over(event)
  }

  #over(end: End): string {
    this.end = end
    return this.over(end)
  }

  protected grow(text: string): void {
    this.#length += text.length
    const { maxLength } = this.about
    if (this.#length > maxLength)
      throw new ServableError('run_too_large', `The run's answer is larger than ${maxLength} characters`)
  }
}

function callOf(id: string, name: string, isOfClient: boolean, args = '', approval?: InputRequest): Call {
  return { id, name, isOfClient, args, isReady: false, index: 0, ...(approval && { approval }) }
}

/** A text as it is, and anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** How an answer was cut short, if it was. The limit of steps is one: it is no call of the client's. */
export function cutBy({ finishReason }: FinishEvent): 'length' | 'content_filter' | undefined {
  if (finishReason === 'length' || finishReason === 'tool_calls') return 'length'
  return finishReason === 'content_filter' || finishReason === 'rejected' ? 'content_filter' : undefined
}

/** What a run used. */
export function usageIn(end: End | undefined): Usage {
  return {
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    ...(end && 'usage' in end ? end.usage : undefined),
  }
}
