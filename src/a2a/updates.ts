/**
 * Streams of updates: first the task (or exactly one message), then how it changes.
 *
 * @module
 */

import type { Follower } from '../runs/host.ts'
import type { LogEntry } from '../state/store.ts'
import { isSettledState, isTerminalState, type Message, type TaskUpdate } from './model.ts'
import type { TaskEntry } from './task-body.ts'
import type { TaskView } from './task-host.ts'

/** An update and its place in the log of its task, which a client can go on after. */
export interface NumberedUpdate {
  readonly seq: number
  readonly update: TaskUpdate
}

/** Gives updates in batches as they come; undefined at the end. */
export interface UpdateSource {
  next(): Promise<readonly NumberedUpdate[] | undefined>
  /** The reader has left; the task goes on. */
  leave(): void
}

/** How a stream begins and ends. */
export interface UpdatesOptions {
  /** The task to begin with. */
  readonly view?: TaskView
  /** Ends when the task waits for its client, and not only when it has ended. */
  readonly endsAtInterruption: boolean
}

/** A stream of exactly one message. */
export function messageOnly(message: Message): UpdateSource {
  let batch: readonly NumberedUpdate[] | undefined = [{ seq: 1, update: { type: 'message', message } }]
  return {
    async next() {
      const given = batch
      batch = undefined
      return given
    },
    leave() {},
  }
}

/** A stream of what a follower reads, after the task itself. What is there already comes with the task, in one batch. */
export function updatesOf(follower: Follower, { view, endsAtInterruption }: UpdatesOptions): UpdateSource {
  let opening: readonly NumberedUpdate[] =
    view === undefined ? [] : [{ seq: view.seq, update: { type: 'task', task: view.task } }]
  let isOver = view !== undefined && endsStream(view.task.status.state, endsAtInterruption)
  const take = (entries: readonly LogEntry[]): readonly NumberedUpdate[] => {
    const updates = entries.flatMap(toUpdate)
    const end = updates.findIndex(({ update }) => endsWith(update, endsAtInterruption))
    isOver = end !== -1
    return isOver ? updates.slice(0, end + 1) : updates
  }
  return {
    leave: () => follower.leave(),
    async next() {
      if (opening.length > 0) {
        const first = opening
        opening = []
        return isOver ? first : [...first, ...take(follower.ready())]
      }
      while (!isOver) {
        const entries = await follower.next()
        if (entries === undefined) break
        const updates = take(entries)
        if (updates.length > 0) return updates
      }
      follower.leave()
      return undefined
    },
  }
}

/** Entries of the history are for `tasks/get`; the rest are updates as they are. */
function toUpdate({ seq, data }: { seq: number; data: string }): NumberedUpdate[] {
  // The log holds what this room wrote into it.
  const entry = JSON.parse(data) as TaskEntry
  return entry.type === 'history' ? [] : [{ seq, update: entry }]
}

function endsWith(update: TaskUpdate, endsAtInterruption: boolean): boolean {
  return update.type === 'status' && endsStream(update.status.state, endsAtInterruption)
}

function endsStream(state: Parameters<typeof isTerminalState>[0], endsAtInterruption: boolean): boolean {
  return endsAtInterruption ? isSettledState(state) : isTerminalState(state)
}
