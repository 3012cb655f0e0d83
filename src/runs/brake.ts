/**
 * The interface of the plugin `pausing`, which is asked before new runs start. Without the plugin nothing is paused.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Admit } from './admit.ts'
import type { Target } from './target.ts'

/** An agent, team or workflow that starts no new runs. */
export interface PausedTarget extends Pick<Target, 'kind' | 'name'> {
  /** Why, in the words of whoever paused it. Clients get it, too. Null if none was given. */
  readonly reason: string | null
  /** The identity of whoever paused it. Null if nobody was identified. */
  readonly by: string | null
  /** When it was paused, or its reason was changed. ISO 8601 in UTC. */
  readonly at: string
}

/** What is paused. */
export interface Paused {
  readonly all: readonly PausedTarget[]
  /** The entry of a target, also if it is served under another name as well. Undefined if it may start. */
  find(target: Target): PausedTarget | undefined
}

/** Knows what is paused. */
export interface Brake {
  /** What is paused, as far as it can be known now. Never rejects: if the state cannot be reached, the last known answer holds. */
  known(): Promise<Paused>
}

/** Seconds after which a client may try again. A pause ends when an operator says so. */
const RETRY_SECONDS = 60

/** Throws `agent_paused` for a target that starts no new runs. */
export async function checkBrake(brake: Brake | undefined, target: Target): Promise<void> {
  const paused = (await brake?.known())?.find(target)
  if (paused === undefined) return
  const why = paused.reason === null ? '' : `: ${paused.reason}`
  const text = `The ${paused.kind} \`${paused.name}\` is paused${why}`
  throw new ServableError('agent_paused', text, { details: { retryAfter: RETRY_SECONDS } })
}

/** Admits only what is not paused. A run that continues another one passes. */
export function braked(brake: Brake | undefined, admit: Admit | undefined): Admit | undefined {
  if (brake === undefined) return admit
  return async run => {
    if (run.continues !== true) await checkBrake(brake, run.target)
    return (await admit?.(run)) ?? (async () => {})
  }
}
