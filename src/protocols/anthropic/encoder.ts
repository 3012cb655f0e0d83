/**
 * Encodes a run for Messages: as events, or as one message.
 *
 * @module
 */

import { type InputRequest, type RunEvent, ServableError } from '../../core-entry.ts'
import { isObject } from '../encoders/index.ts'
import {
  AnswerEncoder,
  type AnswerOptions,
  CANCELLED,
  isCancelled,
  type LastEvent,
  type OutputKind,
  textOf,
} from '../models/answer-encoder.ts'
import type { Fields } from '../models/body.ts'
import { hashOf, idOf, idOfCall } from '../models/ids.ts'
import { RanCalls } from '../models/ran-calls.ts'
import { errorOf } from './errors.ts'

/** The facts that a message contains or depends on. */
export interface MessageOptions extends AnswerOptions {
  readonly requestId: string
  readonly showsThinking: boolean
  /** How calls of tools that ran here are told. */
  readonly toolCalls: 'mcp_tool_use' | 'hidden'
  /** The tool as whose call the structured output comes. Undefined: it comes as text. */
  readonly tool?: string | undefined
}

/** Clients drop thoughts without a signature. Nobody checks it here. */
const SIGNATURE = 'c2VydmFibGU='

/** The names and forms of each kind of text, with the JSON of its events after their index: most events are text. */
const FORMS = {
  message: formOf('text', {}),
  reasoning: formOf('thinking', { signature: '' }),
} as const

function formOf(type: 'text' | 'thinking', more: object) {
  return {
    type,
    start: `,"content_block":${JSON.stringify({ type, [type]: '', ...more })}}\n\n`,
    delta: `,"delta":{"type":"${type}_delta","${type}":`,
    signed: JSON.stringify({ type: 'signature_delta', signature: SIGNATURE }),
  }
}

/** The beginning of an event of a block, before its index. */
const BLOCK = {
  start: 'event: content_block_start\ndata: {"type":"content_block_start","index":',
  delta: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":',
  stop: 'event: content_block_stop\ndata: {"type":"content_block_stop","index":',
} as const

/** What is sent while a run says nothing. */
export const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

/** The open block of text. */
interface Open {
  readonly kind: OutputKind
  /** The event of a piece of text, before the text. */
  readonly head: string
  text: string
}

/** Encodes the events of one run. */
export class MessageEncoder extends AnswerEncoder<MessageOptions> {
  override readonly keepAlive: string = PING
  /** Whole blocks, of an answer that is no stream. */
  readonly #content: Fields[] = []
  /** The number of blocks that have begun. */
  #blocks = 0
  #open: Open | undefined
  #hasCalls = false
  readonly #ran = new RanCalls()
  /** The beginning of the ids of calls that ran here. */
  readonly #ranIds = idOf('mcptoolu', this.about.runId)

  begin(): string {
    return this.#event('message_start', {
      message: this.#message([], null, { input_tokens: 0, output_tokens: 0 }),
    })
  }

  get answer(): object {
    return this.#message(this.#content, this.#stopReason, this.#usage)
  }

  /** There is no stop reason for a cancelled run, so it becomes an error. */
  override encode(event: RunEvent): string {
    if (event.type === 'thinking' && !this.about.showsThinking) return ''
    return super.encode(isCancelled(event) ? CANCELLED : event)
  }

  protected writeText(kind: OutputKind, text: string): string {
    const before = this.#open?.kind === kind ? '' : this.#close() + this.#begin(kind)
    const open = this.#open
    if (open === undefined) throw new ServableError('internal_error', 'No block is open')
    if (!this.about.isStream) open.text += text
    return this.about.isStream ? `${before}${open.head}${JSON.stringify(text)}}}\n\n` : ''
  }

  protected override writeOther(event: RunEvent): string {
    const { toolCalls, isJson } = this.about
    const ran = toolCalls === 'hidden' || isJson ? undefined : this.#ran.take(event)
    if (ran === undefined) return ''
    const { name, args, result, error } = ran
    const id = this.#ranIds + hashOf(ran.id)
    const input = textOf(objectOf(args))
    const text = error ?? textOf(result ?? null)
    this.grow(input + text)
    const content = `[{"type":"text","text":${JSON.stringify(text)}}]`
    // Clients read the input of such a call from the start of its block.
    return (
      this.#block(
        `{"type":"mcp_tool_use","id":"${id}","name":${JSON.stringify(name)},"server_name":"servable","input":${input}}`,
      ) +
      this.#block(
        `{"type":"mcp_tool_result","tool_use_id":"${id}","is_error":${error !== undefined},"content":${content}}`,
      )
    )
  }

  protected writeRequest(
    { id, kind, toolCallId = id, toolName: name = '' }: InputRequest,
    args: string,
  ): string | undefined {
    return kind === 'client_tool' ? this.#call(toolCallId, name, args) : undefined
  }

  protected override writeStructured(structured: unknown): string {
    const { isJson, tool } = this.about
    if (!isJson || tool === undefined) return super.writeStructured(structured)
    return this.#call('structured', tool, JSON.stringify(structured))
  }

  /** The call of a client's tool. */
  #call(callId: string, name: string, args: string): string {
    this.grow(args)
    this.#hasCalls = true
    const id = idOfCall('toolu', this.about.runId, callId)
    const delta = { type: 'input_json_delta', partial_json: args }
    const block = (input: object) => JSON.stringify({ type: 'tool_use', id, name, input })
    return this.about.isStream
      ? this.#block(block({}), JSON.stringify(delta))
      : this.#block(block(objectOf(parsedOf(args))))
  }

  protected writeEnd(end: LastEvent): string {
    const before = this.#close()
    const { isStream, requestId } = this.about
    if (end.type === 'error') {
      const error = errorOf(end.error, { status: 500, code: end.code, requestId })
      return isStream ? `${before}${frame('error', error)}` : ''
    }
    // Clients ask again if an answer has no block at all.
    const empty = this.#blocks === 0 ? this.#block('{"type":"text","text":""}') : ''
    const delta = { ...this.#stopReasonFields(), stop_sequence: null }
    return (
      before +
      empty +
      this.#event('message_delta', { delta, usage: this.#usage }) +
      this.#event('message_stop', {})
    )
  }

  get #usage(): object {
    const { promptTokens, completionTokens } = this.usage
    return { input_tokens: promptTokens, output_tokens: completionTokens }
  }

  get #stopReason(): string {
    const { end, cut } = this
    if (end?.type === 'finish' && end.finishReason === 'content_filter') return 'refusal'
    if (cut === 'length') return 'max_tokens'
    return this.#hasCalls ? 'tool_use' : 'end_turn'
  }

  #stopReasonFields(): object {
    const stop_reason = this.#stopReason
    const stop_details = { type: stop_reason, category: null, explanation: null }
    return stop_reason === 'refusal' ? { stop_reason, stop_details } : { stop_reason }
  }

  #message(content: readonly object[], stop_reason: string | null, usage: object): object {
    const { runId, model } = this.about
    const reason = stop_reason === null ? { stop_reason } : this.#stopReasonFields()
    const id = idOf('msg', runId)
    return { id, type: 'message', role: 'assistant', model, content, ...reason, stop_sequence: null, usage }
  }

  #event(type: string, fields: object): string {
    return this.about.isStream ? frame(type, { type, ...fields }) : ''
  }

  /** Sends a block at once: its start, a change to it, and its end. Both are JSON. */
  #block(json: string, delta?: string): string {
    const before = this.#close()
    const index = this.#blocks++
    if (!this.about.isStream) {
      this.#content.push(JSON.parse(json))
      return ''
    }
    const change = delta === undefined ? '' : `${BLOCK.delta}${index},"delta":${delta}}\n\n`
    return `${before}${BLOCK.start}${index},"content_block":${json}}\n\n${change}${BLOCK.stop}${index}}\n\n`
  }

  /** Begins a block of text. */
  #begin(kind: OutputKind): string {
    const { start, delta } = FORMS[kind]
    const index = this.#blocks++
    this.#open = { kind, head: `${BLOCK.delta}${index}${delta}`, text: '' }
    return this.about.isStream ? `${BLOCK.start}${index}${start}` : ''
  }

  /** Ends the open block. */
  #close(): string {
    const open = this.#open
    if (open === undefined) return ''
    this.#open = undefined
    const { type, signed } = FORMS[open.kind]
    const isThinking = open.kind === 'reasoning'
    if (!this.about.isStream) {
      this.#content.push({ type, [type]: open.text, ...(isThinking && { signature: SIGNATURE }) })
      return ''
    }
    const index = this.#blocks - 1
    const signature = isThinking ? `${BLOCK.delta}${index},"delta":${signed}}\n\n` : ''
    return `${signature}${BLOCK.stop}${index}}\n\n`
  }
}

function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** The arguments of a call, which are always an object here. */
function objectOf(args: unknown): object {
  const value = typeof args === 'string' ? parsedOf(args) : args
  return isObject(value) ? value : {}
}

/** The value of JSON that this service has made, or an agent gave as text. */
function parsedOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
