/**
 * What an agent may remember between runs. The deployment keeps it; a run gets at its own part of it.
 *
 * @module
 */

import type { Kind, RunOptions } from './contract.ts'
import type { Correction } from './corrections.ts'

/** What was said before in a session, of one servable and one owner. */
export interface SessionMemory {
  /** The messages that are kept, oldest first: whatever was appended, as JSON. */
  read(): Promise<readonly unknown[]>
  /** Adds messages at the end; the oldest leave where there are too many or they are too long. */
  append(messages: readonly unknown[]): Promise<void>
}

/** Who remembers. */
export interface Remembering {
  readonly kind: Kind
  readonly name: string
}

/** The memory of one run. */
export interface RunMemory {
  /** The session of the run; undefined where the run has no `sessionId`. Each servable has its own. */
  session(servable: Remembering): SessionMemory | undefined
  /** What people put right in the output of an agent, newest first: corrections of the run's owner. 1 to 100. */
  corrections(agent: Remembering, limit: number): Promise<readonly Correction[]>
}

/** Whose session it is. */
export interface SessionKey {
  /** The id of an identity; null for whoever knows the session's id. */
  readonly owner: string | null
  readonly kind: Kind
  readonly name: string
  readonly sessionId: string
}

/** Where sessions and corrections are kept. */
export interface MemoryKeeper {
  read(key: SessionKey): Promise<readonly unknown[]>
  append(key: SessionKey, messages: readonly unknown[]): Promise<void>
  corrections(agent: string, owner: string | null, limit: number): Promise<readonly Correction[]>
}

/** The memory of a run of an owner in a session. What is run goes by the name under which it was asked for. */
export function memoryOf(
  keeper: MemoryKeeper,
  target: { readonly servable: unknown; readonly name: string },
  { identity, sessionId }: Pick<RunOptions, 'identity' | 'sessionId'>,
): RunMemory {
  const owner = identity ?? null
  const nameOf = (who: Remembering) => (who === target.servable ? target.name : who.name)
  return {
    session(servable) {
      if (sessionId === undefined) return undefined
      const key = { owner, kind: servable.kind, name: nameOf(servable), sessionId }
      return { read: () => keeper.read(key), append: messages => keeper.append(key, messages) }
    },
    corrections: (agent, limit) => keeper.corrections(nameOf(agent), owner, limit),
  }
}
