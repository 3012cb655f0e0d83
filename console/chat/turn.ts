/**
 * The turns of a chat: a message and its answer.
 *
 * @module
 */

import { type Signal, signal } from '@preact/signals'
import type { RunInput } from '../../src/agents/contract.ts'
import type { RunEvent, RunEvents, TurnPage } from '../../src/client/index.ts'
import { client, codeOf, config, messageOf } from '../service.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { eachFrame } from './frames.ts'
import { type Answer, answerOf, continued, fold, goingOn, NEW_ANSWER } from './parts.ts'

/** A message with its answer. */
export interface Turn {
  /** Distinguishes the turns of this page. */
  readonly key: number
  readonly input: RunInput
  /** Its id in the session: the one that this page gave it, or that of its run. */
  readonly messageId: string | undefined
  readonly answer: Signal<Answer>
  /** Whether it replaces an earlier message of the session with this id. */
  readonly replaces: boolean
  /** Ends a run that is not stored. */
  readonly aborting: AbortController
  /** The runs beside it, with its own once it is stored, and its place among them. Absent if it is the only one. */
  readonly beside?: Beside | undefined
}

/** The place of a turn among those that come after the same turn. */
export interface Beside {
  readonly runIds: readonly string[]
  readonly at: number
}

let nextKey = 0

/** A turn that begins. */
export function newTurn(
  about: Pick<Turn, 'input'> & Partial<Pick<Turn, 'messageId' | 'replaces' | 'beside'>>,
  answer: Answer = NEW_ANSWER,
): Turn {
  const { messageId, replaces = false, ...more } = about
  return {
    key: nextKey++,
    messageId,
    replaces,
    answer: signal(answer),
    aborting: new AbortController(),
    ...more,
  }
}

/** The place of the turn that takes the place of this one. */
export function besideOf({ beside, answer }: Turn): Beside | undefined {
  const { runId } = answer.value
  const { runIds = [], at = 0 } = beside ?? {}
  const all = runId === undefined || at < runIds.length ? runIds : [...runIds, runId]
  return all.length === 0 ? undefined : { runIds: all, at: all.length }
}

export const isStored = (): boolean => config.value.notStored === null

export const isRunning = ({ answer }: Turn): boolean => answer.value.status === 'running'

export const isQueued = ({ answer }: Turn): boolean => answer.value.status === 'queued'

export function failed(answer: Answer, error: unknown): Answer {
  return { ...answer, status: 'failed', error: { message: messageOf(error), code: codeOf(error) } }
}

/** Shows the run that continues in the same answer. */
export function goOnIn(turn: Turn, runId: string, events: RunEvents): Promise<void> {
  turn.answer.value = goingOn(turn.answer.value, runId)
  return follow(turn, events)
}

/** Reads a run to its end. A stored run is read on after the connection was lost, as long as that takes. */
export async function follow(turn: Turn, events: RunEvents): Promise<void> {
  const { answer, aborting } = turn
  const waiting: RunEvent[] = []
  let source = events
  const flush = () => {
    const { runId = answer.value.runId } = source
    answer.value = { ...fold(answer.value, waiting.splice(0)), runId }
  }
  const ask = eachFrame(flush)
  for (;;) {
    try {
      for await (const event of source) {
        waiting.push(event)
        ask()
      }
      flush()
      if (answer.value.status === 'running') answer.value = { ...answer.value, status: 'completed' }
      return
    } catch (error) {
      flush()
      const { aborted } = aborting.signal
      const { runId } = answer.value
      if (aborted || codeOf(error) !== 'stream_broken' || !isStored() || runId === undefined) {
        answer.value = aborted ? { ...answer.value, status: 'cancelled' } : failed(answer.value, error)
        return
      }
      await pause(AGAIN_MS, aborting.signal)
      source = client.runs.stream(runId, { after: source.lastEventId, signal: aborting.signal })
    }
  }
}

/** The turns of a page, oldest first. A run that continued with answers and the runs before it are one turn. */
export function turnsOf({ turns }: TurnPage): Turn[] {
  const all: Turn[] = []
  for (const each of [...turns].reverse()) {
    const before = all.at(-1)
    const answer = answerOf(each)
    if (before && each.continuedFrom !== undefined && before.answer.value.runId === each.continuedFrom) {
      before.answer.value = continued(before.answer.value, answer)
    } else {
      const { input, runId, messageId = runId, alternatives: runIds = [] } = each
      const beside = runIds.length > 0 ? { runIds, at: runIds.indexOf(runId) } : undefined
      all.push(newTurn({ input, messageId, beside }, answer))
    }
  }
  return all
}
