/**
 * What is kept of a remote agent's turn, so that a run that goes on sends nothing twice.
 *
 * @module
 */

import type { RunContext } from '../../agents/work/perform.ts'
import { fieldsOf, listIn } from '../frameworks/fields.ts'
import { type Before, beforeOf, type Waiting } from '../frameworks/waits.ts'
import type { ToldArtifacts } from './translator.ts'

/** What is kept. JSON. */
export interface RemoteState {
  /** `sent`: a message is on its way, or was answered. `waiting`: the task waits. `ended`: nothing is left to do. */
  readonly phase: 'sent' | 'waiting' | 'ended'
  /** The context of the message: chosen here, until the service names one. */
  readonly contextId: string
  /** The context is of this message alone. */
  readonly isFresh: boolean
  readonly messageId: string
  /** Messages that this part of the run has sent. */
  readonly sends: number
  readonly taskId?: string | undefined
  /** The service has answered the message. */
  readonly isHeard?: true | undefined
  readonly told?: ToldArtifacts | undefined
  /** The mark of the status that was answered, or is to be. */
  readonly asked?: string | undefined
}

/** What a run before has left, or an earlier try of this one. */
export interface Found {
  readonly state: RemoteState | undefined
  /** What was asked, all of which has an answer. */
  readonly waiting: readonly Waiting[]
  /** The end of a run that still waits. */
  readonly waits?: Before['waits']
  /** The process died after the message was sent, perhaps before. */
  readonly isCut: boolean
}

const BY = 'a remote agent'

/** What this process has kept: what it finds of that is of an earlier try, and not of a process that died. */
const ours = new WeakSet<object>()

/** Finds what was kept. Throws `code_changed` for what another kind of agent kept. */
export function findState(context: RunContext): Found {
  const kept = context.work.read()
  const isOurs = ours.has(fieldsOf(kept))
  const before = beforeOf(context, BY)
  const state = before?.state as RemoteState | undefined
  const { waiting = [], waits } = before ?? {}
  return { state, waiting, waits, isCut: state?.phase === 'sent' && !isOurs }
}

/** Keeps the state. What waits, and its places in the run, stay as they are unless nothing is left to do. */
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

/** The id of a message: the same wherever the run goes on, and no way back to the id of the run. */
export async function messageIdOf({ runId, work }: RunContext, sends: number): Promise<string> {
  const bytes = new TextEncoder().encode(`${runId}/${work.place}${sends}`)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hex = Array.from(hash.subarray(0, 16), byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
