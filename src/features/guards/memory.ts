/**
 * Filters what agents remember of a guarded output: only what its guard accepts.
 *
 * @module
 */

import type { RunMemory } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { type ChangeText, changeJson } from './texts.ts'

type Messages = readonly unknown[]

/** Receives the messages that an agent appends, and returns those that are not stored yet. */
interface Appending {
  append(messages: Messages, whose: unknown, keep: (messages: Messages) => Promise<void>): Promise<void>
  held(whose: unknown): Messages
}

/** Stores messages with changed texts. */
export function maskedMemory(memory: RunMemory, change: ChangeText): RunMemory {
  return memoryBy(memory, {
    append: (messages, _, keep) => keep(messages.map(message => changeJson(message, change))),
    held: () => [],
  })
}

/** Holds messages until the guard has decided whether they may be stored. */
export class HeldMemory implements Appending {
  readonly #maxLength: number
  #length = 0
  #held: { messages: Messages; whose: unknown; keep: (messages: Messages) => Promise<void> }[] = []

  /** Holds at most this many characters of JSON. More fail with `run_too_large`. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** The memory for the run. */
  of(memory: RunMemory): RunMemory {
    return memoryBy(memory, this)
  }

  async append(
    messages: Messages,
    whose: unknown,
    keep: (messages: Messages) => Promise<void>,
  ): Promise<void> {
    this.#length += JSON.stringify(messages).length
    if (this.#length > this.#maxLength)
      throw new ServableError(
        'run_too_large',
        `The run remembers more than ${this.#maxLength} characters before a guard has seen its output`,
      )
    this.#held.push({ messages, whose, keep })
  }

  held(whose: unknown): Messages {
    return this.#held.flatMap(each => (each.whose === whose ? each.messages : []))
  }

  /** Stores the held messages, or drops them. */
  readonly settle = async (passes: boolean): Promise<void> => {
    const held = this.#held
    this.#held = []
    if (passes) for (const { messages, keep } of held) await keep(messages)
  }
}

function memoryBy(memory: RunMemory, by: Appending, whose?: unknown): RunMemory {
  return {
    session(servable, provider) {
      const session = memory.session(servable, provider)
      if (session === undefined) return undefined
      const who = servable ?? whose
      return {
        read: async () => [...(await session.read()), ...by.held(who)],
        append: messages => by.append(messages, who, kept => session.append(kept)),
        turns: () => session.turns(),
      }
    },
    corrections: (agent, limit) => memory.corrections(agent, limit),
    nameOf: servable => memory.nameOf(servable),
    inside: servable => memoryBy(memory.inside(servable), by, servable),
    // What a framework keeps of its own is no text of ours.
    states: run => memory.states?.(run),
  }
}
