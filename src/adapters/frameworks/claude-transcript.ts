/**
 * The transcript of a conversation of the Claude Agent SDK. The SDK writes it into the `SessionStore` that it is given, and reads it
 * again when another process goes on. It is kept in the memory of our session, and in the state of a run that waits.
 *
 * @module
 */

import type { RunInput } from '../../agents/contract.ts'
import { textOf } from '../../agents/input.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { MAX_WORK_LENGTH } from '../../agents/work/work.ts'
import { fieldsOf, listIn, textIn, type UnknownFields } from './fields.ts'
import { assistantText, type EarlierMessage, earlierOf, turnsOf } from './history.ts'

/** A call that waits for a person. */
export interface WaitingCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/** A transcript as JSON. */
export interface KeptTranscript {
  /** The id of the SDK's session. */
  readonly id: string
  readonly entries: readonly UnknownFields[]
  /** Where the turn of this run begins. */
  readonly own?: number | undefined
  /** The call with which it ends. */
  readonly call?: WaitingCall | undefined
}

/** What came before a run. A transcript has it all. Without one, `earlier` has its texts. */
export interface Past {
  readonly kept?: KeptTranscript | undefined
  readonly earlier: readonly EarlierMessage[]
}

/** Reads what came before a run: the history of its client, or its session. */
export async function pastOf(context: RunContext): Promise<Past> {
  const told = turnsOf(context.history)
  if (told !== undefined) return { earlier: told.flatMap(toEarlier) }
  const messages = (await context.memory?.session()?.read()) ?? []
  const turns = messages.flatMap(message => {
    const { role, transcript } = fieldsOf(message)
    return role === 'assistant' ? [fieldsOf(transcript)] : []
  })
  const id = textIn(turns.at(-1)?.id)
  if (id === undefined) return { earlier: await earlierOf(context) }
  const from = turns.findLastIndex(turn => turn.id !== id) + 1
  const entries = turns.slice(from).flatMap(turn => listIn(turn.entries).map(fieldsOf))
  // Older turns may be gone, so the first entry that is left follows none.
  return {
    kept: { id, entries: entries.map((entry, i) => (i === 0 ? { ...entry, parentUuid: null } : entry)) },
    earlier: [],
  }
}

function toEarlier(message: NonNullable<ReturnType<typeof turnsOf>>[number]): EarlierMessage[] {
  const { role } = message
  if (role === 'tool') return []
  return [{ role, content: role === 'user' ? textOf(message.content) : assistantText(message) }]
}

/** The transcript of a run. It is bounded: one that is too long is not kept at all. */
export class Transcript {
  #id: string | undefined
  #entries: UnknownFields[]
  #length: number
  readonly #own: number
  readonly #call: WaitingCall | undefined
  /** The parents of entries that are left out. */
  readonly #skipped = new Map<unknown, unknown>()
  readonly #calls = new Set<unknown>()
  #wake: (() => void) | undefined
  #isClosed = false

  constructor(kept?: KeptTranscript) {
    this.#id = kept?.id
    this.#entries = [...(kept?.entries ?? [])]
    this.#length = JSON.stringify(this.#entries).length
    this.#own = kept?.own ?? this.#entries.length
    this.#call = kept?.call
  }

  /** The options of the SDK that write it and read it. */
  get options(): UnknownFields {
    const sessionStore = {
      append: async (key: unknown, entries: unknown) => this.#append(fieldsOf(key), listIn(entries)),
      load: async () => (this.#entries.length === 0 ? null : this.#toLoad()),
    }
    const resume = this.#entries.length > 0 && { resume: this.#id }
    return { sessionStore, sessionStoreFlush: 'eager', ...resume }
  }

  /** Resolves once a call is in the transcript. Nothing is added from then on. */
  async closeAt(callId: string): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = () => {
        if (this.#calls.has(callId)) resolve()
      }
      this.#wake()
    })
    this.#isClosed = true
  }

  /** The whole transcript, for a run that goes on with `call`. Undefined if nothing was written, or it is too long. */
  keep(call: WaitingCall): KeptTranscript | undefined {
    if (this.#id === undefined || this.#entries.length === 0) return undefined
    return { id: this.#id, entries: this.#entries, own: this.#own, call }
  }

  /** Keeps the turn of this run in its session, if it has one. */
  async remember(context: RunContext, input: RunInput, text: string): Promise<void> {
    const session = context.memory?.session()
    const transcript = { id: this.#id, entries: this.#entries.slice(this.#own) }
    if (session === undefined || transcript.entries.length === 0) return
    // The session keeps a turn that is too long as its texts.
    await session.append([
      { role: 'user', content: textOf(input) },
      { role: 'assistant', content: text, transcript },
    ])
  }

  #append({ sessionId, subpath }: UnknownFields, entries: readonly unknown[]): void {
    // A subagent has a transcript of its own, which only it reads.
    if (this.#isClosed || subpath !== undefined) return
    this.#id = textIn(sessionId) ?? this.#id
    for (const entry of entries.map(fieldsOf)) this.#add(entry)
    this.#wake?.()
  }

  /** Leaves out what the SDK makes anew each time: more than nine tenths of what it writes. */
  #add(entry: UnknownFields): void {
    if (entry.uuid === undefined) return
    const parentUuid = this.#skipped.get(entry.parentUuid) ?? entry.parentUuid
    if (entry.type === 'attachment') {
      this.#skipped.set(entry.uuid, parentUuid)
      return
    }
    this.#length += JSON.stringify(entry).length
    if (this.#length > MAX_WORK_LENGTH) {
      this.#entries = []
      return
    }
    this.#entries.push({ ...entry, parentUuid })
    for (const block of listIn(fieldsOf(entry.message).content)) this.#calls.add(fieldsOf(block).id)
  }

  /** The entries. If a call waits, the last one tells the SDK to run that call, as its own hooks with `defer` do. */
  #toLoad(): readonly UnknownFields[] {
    const last = this.#entries.at(-1)
    if (this.#call === undefined || last === undefined) return this.#entries
    const { message: _, requestId: __, ...common } = last
    const uuid = crypto.randomUUID()
    this.#skipped.set(uuid, last.uuid)
    const { id: toolUseID, name: toolName, args: toolInput } = this.#call
    const hook = { hookName: 'PreToolUse', hookEvent: 'PreToolUse', permissionMode: 'default' }
    const attachment = { type: 'hook_deferred_tool', toolUseID, toolName, toolInput, ...hook }
    const timestamp = new Date().toISOString()
    return [
      ...this.#entries,
      { ...common, type: 'attachment', uuid, parentUuid: last.uuid, timestamp, attachment },
    ]
  }
}
