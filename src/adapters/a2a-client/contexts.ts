/**
 * Finds and stores the context of the remote service that belongs to a session.
 *
 * @module
 */

import { escaped, ownerOf } from '../../agents/memory.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isObject } from '../../base/validation.ts'

/** The context of a conversation with the remote agent. */
export interface KnownContext {
  readonly contextId: string
  /** The task in this context that waits for credentials. */
  readonly taskId?: string | undefined
}

/** The contexts of one remote agent. */
export interface Contexts {
  find(context: RunContext): Promise<KnownContext | undefined>
  keep(context: RunContext, known: KnownContext): Promise<void>
}

/** Most sessions whose contexts are in memory, for runs whose session has no stored memory. */
const MAX_SESSIONS = 1000

/**
 * Makes the contexts of an agent. The memory of the session stores them. Without such a memory, this process remembers those of
 * the 1,000 sessions that were used last.
 */
export function createContexts(): Contexts {
  const here = new Map<string, KnownContext>()
  return {
    async find(context) {
      const memory = context.memory?.session()
      const notes = memory === undefined ? [] : (await memory.read()).map(noteIn)
      const key = keyOf(context)
      return notes.findLast(note => note !== undefined) ?? (key === undefined ? undefined : here.get(key))
    },
    async keep(context, known) {
      const memory = context.memory?.session()
      if (memory !== undefined) return memory.append([{ a2a: known }])
      const key = keyOf(context)
      if (key === undefined) return
      here.delete(key)
      here.set(key, known)
      if (here.size > MAX_SESSIONS) here.delete(here.keys().next().value as string)
    },
  }
}

function keyOf(context: RunContext): string | undefined {
  const { sessionId, work } = context
  if (sessionId === undefined) return undefined
  return `${ownerOf(context) ?? ''}/${escaped(sessionId)}/${work.prefix}`
}

function noteIn(message: unknown): KnownContext | undefined {
  const note = isObject(message) ? message.a2a : undefined
  if (!isObject(note) || typeof note.contextId !== 'string') return undefined
  const { contextId, taskId } = note
  return { contextId, ...(typeof taskId === 'string' && { taskId }) }
}
