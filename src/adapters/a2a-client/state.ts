/**
 * The stored state of a remote agent's turn. With it, a run that continues sends nothing twice.
 *
 * @module
 */

import type { RunContext } from '../../agents/work/perform.ts'
import { fieldsOf, listIn } from '../frameworks/fields.ts'
import { type Before, beforeOf, type WaitingRequest } from '../frameworks/waits.ts'
import type { EmittedArtifacts } from './translator.ts'

/** The stored state. JSON. */
export interface RemoteState {
  /** `sent`: a message is on its way, or was answered. `waiting`: the task waits. `ended`: nothing is left to do. */
  readonly phase: 'sent' | 'waiting' | 'ended'
  /** The context of the message. It is chosen here, until the service names another one. */
  readonly contextId: string
  /** Whether the context was new with this message. */
  readonly isFresh: boolean
  readonly messageId: string
  /** Messages that this part of the run has sent. */
  readonly sends: number
  readonly taskId?: string | undefined
  /** Whether the service has answered the message. */
  readonly isHeard?: true | undefined
  readonly told?: EmittedArtifacts | undefined
  /** The mark of the status whose requests were answered, or wait for answers. */
  readonly asked?: string | undefined
}

/** The state that an earlier run, or an earlier try of this run, has stored. */
export interface FoundState {
  readonly state: RemoteState | undefined
  /** The requests. Each of them has an answer. */
  readonly waiting: readonly WaitingRequest[]
  /** The end of a run that still waits. */
  readonly waits?: Before['waits']
  /** Whether the process died while the message was sent. The message may or may not have arrived. */
  readonly isCut: boolean
}

const BY = 'a remote agent'

/** The states that this process has stored. Finding one of them means an earlier try, and not a process that died. */
const ours = new WeakSet<object>()

/** Reads the stored state. Throws `code_changed` if another kind of agent has stored it. */
export function findState(context: RunContext): FoundState {
  const kept = context.work.read()
  const isOurs = ours.has(fieldsOf(kept))
  const before = beforeOf(context, BY)
  const state = before?.state as RemoteState | undefined
  const { waiting = [], waits } = before ?? {}
  return { state, waiting, waits, isCut: state?.phase === 'sent' && !isOurs }
}

/** Stores the state. The waiting requests and their places in the run stay as they are, until the phase is `ended`. */
export function keepState({ work }: RunContext, state: RemoteState): void {
  const { waiting, places } = fieldsOf(work.read())
  const isOver = state.phase === 'ended'
  const kept = {
    ...{ by: BY, state },
    ...(isOver ? { waiting: [], places: [] } : { waiting: listIn(waiting), places: listIn(places) }),
  }
  ours.add(kept)
  work.keep(kept)
}

export { BY as KEPT_BY }

/** The id of a message. It is the same wherever the run continues, and does not reveal the id of the run. */
export async function messageIdOf({ runId, work }: RunContext, sends: number): Promise<string> {
  const bytes = new TextEncoder().encode(`${runId}/${work.prefix}${sends}`)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hex = Array.from(hash.subarray(0, 16), byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
