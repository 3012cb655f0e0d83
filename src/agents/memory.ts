/**
 * What an agent may remember between runs. The deployment keeps it; a run gets at its own part of it.
 *
 * @module
 */

import type { Correction } from './corrections.ts'
import { ownerOf } from './owner.ts'
import { withoutKeys } from './redacted.ts'
import type { HistoryMessage, Kind, RunCaller, RunKeys } from './run-types.ts'

/** What was said before in a session, of one servable and one owner. */
export interface SessionMemory {
  /** The messages that are kept, oldest first: whatever was appended, as JSON. */
  read(): Promise<readonly unknown[]>
  /**
   * Adds messages at the end, without the provider keys of the run; the oldest leave where there are too many or they are
   * too long.
   */
  append(messages: readonly unknown[]): Promise<void>
}

/** Who remembers. */
export interface Remembering {
  readonly kind: Kind
  readonly name: string
}

/** The memory of one run. */
export interface RunMemory {
  /**
   * The session of the run; undefined where the run has no `sessionId` or has a history of its client, and where none are kept.
   * Each servable has its own: one that is served by itself has one memory however it is reached, any other one for each team or
   * workflow around it.
   */
  session(servable: Remembering): SessionMemory | undefined
  /**
   * What people put right in the output of an agent, newest first: corrections of the run's identity, and none without one.
   * 1 to 100.
   */
  corrections(agent: Remembering, limit: number): Promise<readonly Correction[]>
  /** The name under which something is served, else its own. */
  nameOf(servable: Remembering): string
  /** The memory of what is run inside of this run. */
  inside(servable: Remembering): RunMemory
}

/** Whose session it is. */
export interface SessionKey {
  /** As `ownerOf` tells; null for whoever knows the session's id. */
  readonly owner: string | null
  /** Who remembers, after all that it is run inside of. */
  readonly place: readonly string[]
  readonly sessionId: string
}

/** Where sessions are kept. */
export interface SessionKeeper {
  read(key: SessionKey): Promise<readonly unknown[]>
  append(key: SessionKey, messages: readonly unknown[]): Promise<void>
}

/** Where sessions and corrections are kept, and who is served. */
export interface MemoryKeeper {
  /** Undefined where none are kept. */
  readonly sessions: SessionKeeper | undefined
  corrections(agent: string, owner: string, limit: number): Promise<readonly Correction[]>
  /** The name under which something is served by itself, `asked` if it is one of them; undefined where it is not. */
  servedAs(servable: unknown, kind: Kind, asked: string): string | undefined
}

/** What is run, under the name by which it was asked for. */
export interface MemoryTarget extends Remembering {
  readonly servable: unknown
  /** The part that has names of its own, where it is one of those. */
  readonly scope?: string
}

/** The run that remembers. */
type Run = RunCaller & RunKeys & { readonly history?: readonly HistoryMessage[] | undefined }

/** The memory of a run of an owner in a session. */
export function memoryOf(keeper: MemoryKeeper, target: MemoryTarget, options: Run): RunMemory {
  // Most runs never ask.
  let here: Spot | undefined
  const find = () => {
    here ??= spotIn(keeper, target)
    return here
  }
  return memoryAt(find, keeper, options)
}

function spotIn(keeper: MemoryKeeper, { kind, name, servable, scope = '' }: MemoryTarget): Spot {
  const served = keeper.servedAs(servable, kind, name)
  const place = served === undefined ? [scope, label(kind, name)] : [label(kind, served)]
  return { servable, name: served ?? name, place }
}

/** Something at work: its name, and its place as {@link SessionKey} has it. */
interface Spot {
  readonly servable: unknown
  readonly name: string
  readonly place: readonly string[]
}

function memoryAt(find: () => Spot, keeper: MemoryKeeper, options: Run): RunMemory {
  const { identity, sessionId, history } = options
  const { sessions } = keeper
  const spotOf = (servable: Remembering): Spot => {
    const here = find()
    if (servable === here.servable) return here
    const { kind } = servable
    const served = keeper.servedAs(servable, kind, servable.name)
    const name = served ?? servable.name
    return { servable, name, place: [...(served === undefined ? here.place : []), label(kind, name)] }
  }
  return {
    session(servable) {
      // One memory a run: what its client tells, or what is kept.
      if (sessionId === undefined || sessions === undefined || history !== undefined) return undefined
      const key = { owner: ownerOf(options) ?? null, place: spotOf(servable).place, sessionId }
      return {
        read: () => sessions.read(key),
        append: async messages => sessions.append(key, withoutKeys(messages, options)),
      }
    },
    // What a stranger corrects is told to nobody: without an identity all would be one owner.
    corrections: async (agent, limit) =>
      identity === undefined ? [] : keeper.corrections(spotOf(agent).name, identity, limit),
    nameOf: servable => spotOf(servable).name,
    inside(servable) {
      const spot = spotOf(servable)
      return memoryAt(() => spot, keeper, options)
    },
  }
}

function label(kind: Kind, name: string): string {
  return `${kind}:${name}`
}
