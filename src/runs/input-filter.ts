/**
 * What plugins of this package see of what a client says, before any of it is kept or reaches a servable.
 *
 * @module
 */

import type { Answer, HistoryMessage, RunInput } from '../agents/contract.ts'
import type { RunCaller } from '../agents/run-types.ts'
import type { Target } from './target.ts'

/** What a client says: the input of a run with its history, or answers to what a run asks. */
export interface Said {
  readonly input?: RunInput | undefined
  readonly history?: readonly HistoryMessage[] | undefined
  readonly answers?: readonly Answer[] | undefined
}

/** Who says it, and to whom. */
export interface Saying extends Pick<RunCaller, 'identity' | 'sessionId'> {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  /** Fires when the client has left, where that is known. */
  readonly signal?: AbortSignal | undefined
}

/** Gives what takes the place of what was said, each member for the same one. Whatever it throws is told to the client. */
export type InputFilter = (said: Said, by: Saying) => Promise<Said>

/** Several as one, in their order. Undefined without any. */
export function filterInputBy(screens: readonly InputFilter[]): InputFilter | undefined {
  if (screens.length === 0) return undefined
  return async (said, by) => {
    for (const screen of screens) said = await screen(said, by)
    return said
  }
}
