/**
 * The messages and the state that a client has after events of AG-UI.
 *
 * @module
 */

import type { ContentPart, FinishEvent, RunInput } from '../../core-entry.ts'
import { ANY, urlOf } from '../encoders/index.ts'

/** A message as a client has it. */
interface Message {
  readonly id: string
  readonly role: string
  content?: unknown
  toolCalls?: Call[]
  readonly [more: string]: unknown
}

interface Call {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; arguments: string }
}

type SentEvent = Readonly<Record<string, string>> & { readonly type: string }

/** Most changes of a state that are held since the state was told. */
const MAX_CHANGES = 1000

/** Applies events as clients do. */
export class Transcript {
  readonly messages: Message[] = []
  /** The newest whole state, and its changes since then. */
  state: string[] = []
  readonly #byId = new Map<string, Message>()
  readonly #calls = new Map<string, { readonly call: Call; readonly message: Message }>()

  /** The ids of all calls. */
  get calls(): ReadonlySet<string> {
    return new Set(this.#calls.keys())
  }

  /** The arguments of a call until now. */
  argsOf(id: string): string {
    return this.#calls.get(id)?.call.function.arguments ?? ''
  }

  /** The name of the tool of a call. */
  nameOf(id: string): string {
    return this.#calls.get(id)?.call.function.name ?? ''
  }

  /** Gives a call the arguments that were edited with its approval. */
  edit(id: string, args: unknown): void {
    const before = this.#calls.get(id)?.call.function
    const text = JSON.stringify(args)
    if (before === undefined || text === undefined || JSON.stringify(valueIn(before.arguments)) === text)
      return
    before.arguments = text
  }

  /** Adds the message of a user. */
  ask(id: string, input: RunInput): void {
    const content = typeof input === 'string' ? input : input.map(toPart)
    this.#push({ id, role: 'user', content })
  }

  /** Adds the text of an answer. */
  say(id: string, content: string): void {
    this.#push({ id, role: 'assistant', content })
  }

  /** Adds the events of a stream. */
  add(text: string): void {
    for (const line of text.split('\n')) {
      if (line.startsWith('data: ')) this.#apply(JSON.parse(line.slice(6)), line)
    }
  }

  #apply(event: SentEvent, line: string): void {
    const { messageId = '', delta = '', toolCallId = '', role = 'assistant', subagentRunId, name } = event
    const tag = subagentRunId === undefined ? {} : { subagentRunId }
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
        if (this.#byId.has(messageId)) return
        return this.#push({ id: messageId, role, content: '', ...(name !== undefined && { name }), ...tag })
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#byId.get(messageId)
        if (message !== undefined) message.content = `${message.content ?? ''}${delta}`
        return
      }
      case 'TOOL_CALL_START':
        return this.#call(event, tag)
      case 'TOOL_CALL_ARGS': {
        const call = this.#calls.get(toolCallId)?.call
        if (call !== undefined) call.function.arguments += delta
        return
      }
      case 'TOOL_CALL_RESULT':
        return this.#result({ id: messageId, toolCallId, role: 'tool', content: event.content, ...tag })
      case 'STATE_SNAPSHOT':
        this.state = [line]
        return
      case 'STATE_DELTA':
        if (this.state.length < MAX_CHANGES) this.state.push(line)
    }
  }

  #push(message: Message): void {
    this.#byId.set(message.id, message)
    this.messages.push(message)
  }

  #call({ toolCallId = '', toolCallName = '', parentMessageId = toolCallId }: SentEvent, tag: object): void {
    if (this.#calls.has(toolCallId)) return
    let message = this.#byId.get(parentMessageId)
    if (message === undefined) {
      message = { id: parentMessageId, role: 'assistant', ...tag }
      this.#push(message)
    }
    const call: Call = { id: toolCallId, type: 'function', function: { name: toolCallName, arguments: '' } }
    message.toolCalls = [...(message.toolCalls ?? []), call]
    this.#calls.set(toolCallId, { call, message })
  }

  /** A result stands after its call. */
  #result(message: Message & { readonly toolCallId: string }): void {
    this.#byId.set(message.id, message)
    const asked = this.#calls.get(message.toolCallId)?.message
    let at = asked === undefined ? this.messages.length : this.messages.indexOf(asked) + 1
    while (this.messages[at]?.role === 'tool') at++
    this.messages.splice(at, 0, message)
  }

  /** The messages without the calls that are not complete. */
  without(open: ReadonlySet<string>): readonly object[] {
    if (open.size === 0) return this.messages
    return this.messages.flatMap(message => {
      if (message.toolCalls === undefined) return [message]
      const { toolCalls: all, ...rest } = message
      const toolCalls = all.filter(({ id }) => !open.has(id))
      if (toolCalls.length > 0) return [{ ...rest, toolCalls }]
      return rest.content === undefined ? [] : [rest]
    })
  }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A part of a user's message. Files are addresses, and data is text. */
function toPart(part: ContentPart): object {
  if (part.type === 'text') return part
  if (part.type === 'data') return { type: 'text', text: JSON.stringify(part.data) ?? 'null' }
  const { data, mimeType = ANY } = part
  const filename = part.type === 'file' ? part.filename : undefined
  const [kind = ''] = mimeType.split('/', 1)
  const type = ['image', 'audio', 'video'].includes(kind) ? kind : 'document'
  const source = { type: 'url', value: urlOf(data, mimeType), mimeType }
  return { type, source, ...(filename !== undefined && { metadata: { filename } }) }
}

/** The calls of tools of the client that a run waits for. */
export function clientCallsOf({ requests = [] }: Pick<FinishEvent, 'requests'>): string[] {
  return requests.flatMap(({ kind, toolCallId }) =>
    kind === 'client_tool' && toolCallId !== undefined ? [toolCallId] : [],
  )
}
