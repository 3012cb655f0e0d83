/**
 * The filter of plugins that reads what a client sends, before it is stored or reaches a servable.
 *
 * @module
 */

import type { Answer, HistoryMessage, RunInput } from '../agents/contract.ts'
import type { RunCaller } from '../agents/run-types.ts'
import type { Target } from './target.ts'

/** What a client sends: the input of a run with its history, or answers to a run's requests. */
export interface ClientInput {
  readonly input?: RunInput | undefined
  readonly history?: readonly HistoryMessage[] | undefined
  readonly answers?: readonly Answer[] | undefined
}

/** The client, and the target of its input. */
export interface InputSource extends Pick<RunCaller, 'identity' | 'sessionId'> {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  /** Fires when the client has left, if that is known. */
  readonly signal?: AbortSignal | undefined
}

/** Returns the replacement of the input, with the same members. The client gets the error that it throws. */
export type InputFilter = (input: ClientInput, by: InputSource) => Promise<ClientInput>

/** Joins several filters in their order. Undefined if there are none. */
export function filterInputBy(filters: readonly InputFilter[]): InputFilter | undefined {
  if (filters.length === 0) return undefined
  return async (input, by) => {
    for (const filter of filters) input = await filter(input, by)
    return input
  }
}
