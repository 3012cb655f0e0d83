/**
 * What agents remember of an output that is guarded: only what its guard lets out.
 *
 * @module
 */

import type { RunMemory } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { type ChangeText, changeJson } from './texts.ts'

type Messages = readonly unknown[]

/** What takes the messages that an agent appends, and knows those that are not kept yet. */
interface Appending {
  append(messages: Messages, whose: unknown, keep: (messages: Messages) => Promise<void>): Promise<void>
  held(whose: unknown): Messages
}

/** Messages are remembered with their texts changed. */
export function maskedMemory(memory: RunMemory, change: ChangeText): RunMemory {
  return memoryBy(memory, {
    append: (messages, _, keep) => keep(messages.map(message => changeJson(message, change))),
    held: () => [],
  })
}

/** Messages are held until it is known whether they may be remembered. */
export class HeldMemory implements Appending {
  readonly #maxLength: number
  #length = 0
  #held: { messages: Messages; whose: unknown; keep: (messages: Messages) => Promise<void> }[] = []

  /** Holds at most so many characters of JSON; more fail with `run_too_large`. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** The memory that a run is to get. */
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

  /** Remembers what is held, or forgets it. */
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
  }
}
