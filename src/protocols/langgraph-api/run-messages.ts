/**
 * The messages that a run makes, from its events. The stream of a run and the state of its thread are both made from these, so they agree.
 *
 * @module
 */

import type { RunEvent, Usage } from '../../core-entry.ts'
import { endMessageOf, parsed, SentText } from '../encoders/index.ts'
import { type AiMessage, humanMessage, type ThreadMessage, type ToolMessage } from './messages.ts'

/** A message of an agent that is being made. */
export interface AiDraft {
  readonly id: string
  readonly name: string | undefined
  text: string
  thinking: string
  readonly calls: CallDraft[]
  usage?: Usage | undefined
}

/** A call that is being made. */
export interface CallDraft {
  readonly id: string
  readonly name: string
  readonly index: number
  args: string
  readonly sent: SentText
  isReady: boolean
}

/** What an event changes. */
export type Change =
  | { readonly type: 'text' | 'thinking'; readonly message: AiDraft; readonly delta: string }
  | {
      readonly type: 'call'
      readonly message: AiDraft
      readonly call: CallDraft
      readonly delta: string
      readonly isFirst: boolean
    }
  /** The text or a call of a message is complete; others may follow. */
  | { readonly type: 'part'; readonly message: AiDraft }
  | { readonly type: 'closed'; readonly message: AiDraft }
  | { readonly type: 'whole'; readonly message: ThreadMessage }

/** Makes the messages of one run. */
export class RunMessages {
  readonly #runId: string
  /** The names of calls that an earlier run of the answer has made, by their ids. */
  readonly #known: ReadonlyMap<string, string>
  readonly #done: (AiDraft | ThreadMessage)[] = []
  readonly #calls = new Map<string, { readonly call: CallDraft; readonly message: AiDraft }>()
  readonly #text = new SentText()
  readonly #thinking = new SentText()
  #open: AiDraft | undefined
  /** The id of the message that comes next, which a graph tells. */
  #nextId: string | undefined
  /** What is being said in the open message. */
  #saying: 'text' | 'thinking' | undefined
  #count = 0
  /** Arguments that were edited with the approval of a call of an earlier run. */
  readonly edited: Map<string, unknown> = new Map<string, unknown>()
  /** The structured answer, once the run has ended with one. */
  structured: object | undefined

  constructor(runId: string, known: ReadonlyMap<string, string> = new Map()) {
    this.#runId = runId
    this.#known = known
  }

  /** The messages until now. */
  get messages(): readonly ThreadMessage[] {
    return this.#done.map(each => ('calls' in each ? aiMessage(each) : each))
  }

  /** The name of the tool of a call. */
  nameOf(id: string): string | undefined {
    return this.#calls.get(id)?.call.name ?? this.#known.get(id)
  }

  /** Adds an event, and tells what it changes. */
  add(event: RunEvent): readonly Change[] {
    switch (event.type) {
      case 'text':
      case 'thinking':
        return this.#say(event.type, event.text, event.agent)
      case 'message':
        return event.parts.flatMap(part =>
          part.type === 'text' ? this.#say('text', part.text, event.agent) : [],
        )
      case 'tool_call_start':
        return this.#begin(event.toolCall.id, event.toolCall.name, event.agent)
      case 'tool_call_delta':
        return this.#args(event.toolCallId, event.argumentsDelta)
      case 'tool_call_ready':
        return this.#ready(event.toolCallId, event.args)
      case 'tool_call_end':
        return this.#end(event.toolCallId, event.error ?? event.result, event.error !== undefined)
      case 'model_call':
        if (this.#open !== undefined) this.#open.usage = event.usage
        return this.#close()
      case 'graph_message':
        return this.#name(event.id)
      case 'steered':
        return [...this.#close(), this.#whole(humanMessage(event.messageId, event.parts))]
      case 'resumed':
        this.#text.resume()
        this.#thinking.resume()
        for (const { call } of this.#calls.values()) call.sent.resume()
        return []
      case 'finish': {
        const words = endMessageOf(event)
        const said = words === undefined ? [] : this.add(words)
        this.structured = event.structured ?? undefined
        const isSilent = this.#done.every(each => !('calls' in each) || each.text === '')
        const answer = this.structured && isSilent ? this.#say('text', JSON.stringify(this.structured)) : []
        return [...said, ...answer, ...this.#close()]
      }
      case 'error':
        return this.#close()
      default:
        return []
    }
  }

  #say(type: 'text' | 'thinking', piece: string, agent?: string): readonly Change[] {
    const sent = type === 'text' ? this.#text : this.#thinking
    const delta = sent.add(piece)
    if (delta === '') return []
    const changes: Change[] = sent.isOther ? [...this.#close()] : []
    const message = this.#message(agent, changes)
    changes.push(...this.#stop(type))
    this.#saying = type
    message[type] += delta
    changes.push({ type, message, delta })
    return changes
  }

  /** The open message of an agent. */
  #message(agent: string | undefined, changes: Change[]): AiDraft {
    if (this.#open !== undefined && this.#open.name !== agent) changes.push(...this.#close())
    if (this.#open === undefined) {
      const id = this.#named() ?? `${this.#runId}-${++this.#count}`
      this.#open = { id, name: agent, text: '', thinking: '', calls: [] }
      this.#done.push(this.#open)
    }
    return this.#open
  }

  /** Takes the id of what comes next. A message that another one came between goes on. */
  #name(id: string): readonly Change[] {
    if (this.#open?.id === id) return []
    const closed = this.#close()
    this.#open = this.#done.findLast((each): each is AiDraft => 'calls' in each && each.id === id)
    this.#nextId = this.#open === undefined ? id : undefined
    return closed
  }

  #named(): string | undefined {
    const id = this.#nextId
    this.#nextId = undefined
    return id
  }

  /** Ends what is said, if it is something else. */
  #stop(next?: 'text' | 'thinking'): readonly Change[] {
    const [message, was] = [this.#open, this.#saying]
    this.#saying = undefined
    return message !== undefined && was === 'text' && next !== 'text' ? [{ type: 'part', message }] : []
  }

  #begin(id: string, name: string, agent: string | undefined): readonly Change[] {
    // A call begins again in a run that goes on, and after its process died.
    if (this.#known.has(id) || this.#calls.has(id)) return []
    const changes: Change[] = []
    const message = this.#message(agent, changes)
    changes.push(...this.#stop())
    const call: CallDraft = {
      id,
      name,
      index: message.calls.length,
      args: '',
      sent: new SentText(),
      isReady: false,
    }
    message.calls.push(call)
    this.#calls.set(id, { call, message })
    changes.push({ type: 'call', message, call, delta: '', isFirst: true })
    return changes
  }

  #args(id: string, piece: string): readonly Change[] {
    const { call, message } = this.#calls.get(id) ?? {}
    if (call === undefined || message === undefined || call.isReady) return []
    const delta = call.sent.add(piece)
    if (delta === '') return []
    call.args += delta
    return [{ type: 'call', message, call, delta, isFirst: false }]
  }

  #ready(id: string, args: unknown): readonly Change[] {
    const { call, message } = this.#calls.get(id) ?? {}
    if (this.#known.has(id) && args !== undefined) this.edited.set(id, args)
    if (call === undefined || message === undefined || call.isReady) return []
    const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '{}')
    const rest = call.args === '' ? this.#args(id, text) : []
    call.isReady = true
    return [...rest, { type: 'part', message }]
  }

  #end(id: string, content: unknown, isError: boolean): readonly Change[] {
    const { message } = this.#calls.get(id) ?? {}
    const name = this.nameOf(id)
    if (name === undefined) return []
    const closed = [...this.#ready(id, undefined), ...(message === this.#open ? this.#close() : [])]
    const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? 'null')
    const status = isError ? 'error' : 'success'
    const tool: ToolMessage = {
      type: 'tool',
      id: this.#named() ?? `${this.#runId}-${id}`,
      tool_call_id: id,
      name,
      content: text,
      status,
    }
    return [...closed, this.#whole(tool)]
  }

  #whole(message: ThreadMessage): Change {
    this.#done.push(message)
    return { type: 'whole', message }
  }

  #close(): readonly Change[] {
    const message = this.#open
    if (message === undefined) return []
    const changes = [...this.#stop(), ...message.calls.flatMap(call => this.#ready(call.id, undefined))]
    this.#open = undefined
    return [...changes, { type: 'closed', message }]
  }
}

/** The message as clients get it. */
export function aiMessage({ id, name, text, thinking, calls, usage }: AiDraft): AiMessage {
  const said = text === '' ? [] : [{ type: 'text', text }]
  return {
    type: 'ai',
    id,
    ...(name !== undefined && { name }),
    content: thinking === '' ? text : [{ type: 'thinking', thinking }, ...said],
    tool_calls: calls.map(call => ({
      name: call.name,
      args: argsOf(call.args),
      id: call.id,
      type: 'tool_call',
    })),
    ...(usage && { usage_metadata: usageMetadata(usage) }),
  }
}

function argsOf(text: string): unknown {
  return text === '' ? {} : parsed(text)
}

/** Tokens as LangChain counts them. */
export function usageMetadata({ promptTokens, completionTokens, totalTokens }: Usage): object {
  return { input_tokens: promptTokens, output_tokens: completionTokens, total_tokens: totalTokens }
}

/** Messages with the arguments that were edited since. */
export function withEdits(
  messages: readonly ThreadMessage[],
  edited: ReadonlyMap<string, unknown>,
): readonly ThreadMessage[] {
  if (edited.size === 0) return messages
  return messages.map(message => {
    if (message.type !== 'ai' || !message.tool_calls.some(({ id }) => edited.has(id))) return message
    const calls = message.tool_calls.map(call =>
      edited.has(call.id) ? { ...call, args: edited.get(call.id) } : call,
    )
    return { ...message, tool_calls: calls }
  })
}

/** The names of the calls that have no result yet, by their ids. Calls of other turns may have the same ids. */
export function openCallsIn(messages: readonly ThreadMessage[]): ReadonlyMap<string, string> {
  const open = new Map<string, string>()
  for (const message of messages) {
    if (message.type === 'ai') for (const { id, name } of message.tool_calls) open.set(id, name)
    else if (message.type === 'tool') open.delete(message.tool_call_id)
    else open.clear()
  }
  return open
}
