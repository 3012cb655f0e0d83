/**
 * A run in the words of Chat Completions: as chunks, or as one answer.
 *
 * @module
 */

import type { FinishEvent, InputRequest, RunEvent, Usage } from '../../agents/contract.ts'
import { type Encoder, sseData } from '../../encoders/encoder.ts'
import { ToldText } from '../../encoders/told-text.ts'
import { cutBy, type End, questionsOf, Size } from '../ending.ts'
import { errorOfStream } from '../errors.ts'
import { callIdOf } from '../ids.ts'
import { sayingOf } from '../parts.ts'

/** What an answer is about. */
export interface Completion {
  readonly runId: string
  /** As the client named it. */
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  readonly isStream: boolean
  /** The stream ends with the usage. */
  readonly tellsUsage: boolean
  /** The answer is the structured output. */
  readonly isJson: boolean
  /** The run is a stored one, which may go on after a crash and say its text again. */
  readonly isStored: boolean
  /** Most characters of an answer that is no stream. */
  readonly maxLength: number
  /** What the client has answered: it has these calls. */
  readonly answered?: readonly InputRequest[] | undefined
}

type Spoken = 'content' | 'reasoning_content'

/** A call of a tool of the client. */
interface Call {
  readonly index: number
  readonly id: string
  readonly name: string
  args: string
}

const DONE = 'data: [DONE]\n\n'

/** See the module's head. */
export class ChatEncoder implements Encoder {
  readonly #about: Completion
  readonly #id: string
  /** What all chunks begin with. */
  readonly #head: string
  readonly #said: Record<Spoken, string> = { content: '', reasoning_content: '' }
  readonly #told: Partial<Record<Spoken, ToldText>>
  readonly #size: Size
  /** Calls of tools of the client, by the ids that the run has for them. */
  readonly #calls = new Map<string, Call>()
  readonly #known: ReadonlySet<string | undefined>
  #hasSaid = false
  #end: End | undefined

  constructor(about: Completion) {
    this.#about = about
    const { runId, model, created, isStored, maxLength, answered = [] } = about
    this.#id = `chatcmpl-${runId.replaceAll('-', '')}`
    const head = { id: this.#id, object: 'chat.completion.chunk', created, model }
    this.#head = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":0,"delta":`
    this.#told = isStored ? { content: new ToldText(), reasoning_content: new ToldText() } : {}
    this.#size = new Size(maxLength)
    this.#known = new Set(answered.map(({ toolCallId }) => toolCallId))
  }

  /** How the run has ended. */
  get end(): End | undefined {
    return this.#end
  }

  /** The first chunk: proxies wait for one. */
  begin(): string {
    return this.#chunk('{"role":"assistant","content":""}')
  }

  encode(event: RunEvent): string {
    switch (event.type) {
      case 'text':
        return this.#about.isJson ? '' : this.#say('content', event.text)
      case 'thinking':
        return this.#say('reasoning_content', event.text)
      case 'message':
        return this.#about.isJson ? '' : this.#say('content', event.parts.map(sayingOf).join(''))
      case 'tool_call_start':
        return event.isClientTool ? this.#call(event.toolCall.id, event.toolCall.name) : ''
      case 'tool_call_delta':
        // A stored run may tell them again.
        return this.#about.isStored ? '' : this.#argue(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'resumed':
        for (const told of Object.values(this.#told)) told.resume()
        return ''
      case 'finish':
        return this.#finish(event)
      case 'error':
        this.#end = event
        return sseData({ error: errorOfStream(event.error, event.code) })
      default:
        return ''
    }
  }

  /** The answer of a run that is over. */
  answer({ finishReason, usage }: FinishEvent): object {
    const { model, created } = this.#about
    const { content, reasoning_content } = this.#said
    const calls = [...this.#calls.values()]
    const message = {
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
      ...(reasoning_content !== '' && { reasoning_content }),
      ...(calls.length > 0 && { tool_calls: calls.map(call => toolCallOf(call, call.args)) }),
      refusal: null,
    }
    const finish_reason = this.#reasonOf(finishReason)
    return {
      ...{ id: this.#id, object: 'chat.completion', created, model },
      choices: [{ index: 0, message, logprobs: null, finish_reason }],
      usage: usageOf(usage),
    }
  }

  #say(type: Spoken, text: string): string {
    const fresh = this.#told[type]?.add(text) ?? text
    if (fresh === '') return ''
    if (type === 'content') this.#hasSaid = true
    if (this.#about.isStream) return this.#chunk(`{"${type}":${JSON.stringify(fresh)}}`)
    this.#size.add(fresh)
    this.#said[type] += fresh
    return ''
  }

  #call(toolCallId: string, name: string): string {
    if (this.#known.has(toolCallId) || this.#calls.has(toolCallId)) return ''
    const id = callIdOf(this.#about.runId, toolCallId)
    const call = { index: this.#calls.size, id, name, args: '' }
    this.#calls.set(toolCallId, call)
    return this.#tellCall({ index: call.index, ...toolCallOf(call, '') })
  }

  #argue(toolCallId: string, args: string): string {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || args === '') return ''
    this.#size.add(args)
    call.args += args
    return this.#tellCall({ index: call.index, function: { arguments: args } })
  }

  #ready(toolCallId: string, args: unknown = {}): string {
    const isTold = this.#calls.get(toolCallId)?.args !== ''
    return isTold ? '' : this.#argue(toolCallId, typeof args === 'string' ? args : JSON.stringify(args))
  }

  #tellCall(call: object): string {
    return this.#about.isStream ? this.#chunk(JSON.stringify({ tool_calls: [call] })) : ''
  }

  #finish(event: FinishEvent): string {
    const { finishReason, requests = [], structured, usage } = event
    const { isStream, isJson, tellsUsage } = this.#about
    const json = structured && (isJson || !this.#hasSaid) ? JSON.stringify(structured) : ''
    const calls = requests.filter(({ kind }) => kind === 'client_tool')
    const others = requests.filter(({ kind }) => kind !== 'client_tool')
    let told = this.#say('content', json)
    if (others.length > 0)
      told += this.#say('content', `${this.#hasSaid ? '\n\n' : ''}${questionsOf(others)}`)
    for (const { id, toolCallId = id, toolName = '', args } of calls)
      told += this.#call(toolCallId, toolName) + this.#ready(toolCallId, args)
    this.#end = event
    if (!isStream) return ''
    if (finishReason === 'cancelled')
      return told + sseData({ error: errorOfStream('The run was cancelled', 'cancelled') })
    told += this.#chunk('{}', this.#reasonOf(finishReason))
    if (tellsUsage) told += this.#usage(usage)
    return told + DONE
  }

  #reasonOf(reason: FinishEvent['finishReason']): string {
    return cutBy(reason) ?? (this.#calls.size > 0 ? 'tool_calls' : 'stop')
  }

  #chunk(delta: string, reason?: string): string {
    const usage = this.#about.tellsUsage ? ',"usage":null' : ''
    return `${this.#head}${delta},"logprobs":null,"finish_reason":${reason === undefined ? null : `"${reason}"`}}]${usage}}\n\n`
  }

  #usage(usage: Usage | undefined): string {
    const head = this.#head.slice(0, this.#head.lastIndexOf('{"index"'))
    return `${head}],"usage":${JSON.stringify(usageOf(usage))}}\n\n`
  }
}

function toolCallOf({ id, name }: Call, args: string): object {
  return { id, type: 'function', function: { name, arguments: args } }
}

function usageOf({ promptTokens = 0, completionTokens = 0, totalTokens = 0 }: Partial<Usage> = {}): object {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens }
}
