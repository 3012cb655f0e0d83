/**
 * A handler without a state. It stores nothing, and its errors say which states there are.
 *
 * @module
 */

import { type ErrorCode, ServableError } from '../base/errors.ts'
import type { RunHost } from '../runs/stored/host.ts'

/** The advice in these errors. */
export const GIVE_STATE =
  'give the handler a `state`: `memoryState()`, `sqliteState()` of `servable/sqlite`, or on Workers `durableState()` of `servable/cloudflare`'

/** Stands in for a state. */
export interface NoState {
  readonly kind: 'none'
  createHost(): RunHost
}

/** Returns the state for a plugin that stores data. Throws `invalid_options` if there is none. */
export function stateFor<S extends { readonly kind: string }>(plugin: string, state: S | NoState): S {
  if (isState(state)) return state
  throw new ServableError('invalid_options', `\`${plugin}\` stores data: ${GIVE_STATE}`)
}

function isState<S extends { readonly kind: string }>(state: S | NoState): state is S {
  return state.kind !== 'none'
}

/** Makes the missing state. */
export function noState(): NoState {
  const refuse = async (code: ErrorCode, message: string): Promise<never> => {
    throw new ServableError(code, message)
  }
  const unstored = () => refuse('runs_not_stored', `Runs are not stored here: ${GIVE_STATE}`)
  const missing = () => refuse('run_not_found', 'There is no such run')
  return {
    kind: 'none',
    createHost: () => ({
      start: unstored,
      keep: unstored,
      record: unstored,
      answer: missing,
      resume: missing,
      asked: missing,
      asking: async () => undefined,
      get: missing,
      follow: missing,
      events: missing,
      wait: missing,
      cancel: missing,
      delete: missing,
      feedback: missing,
      rate: missing,
      list: async () => ({ runs: [], nextCursor: null }),
      find: async () => [],
    }),
  }
}
