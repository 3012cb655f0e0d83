/**
 * Streams of updates. The first update is the task or a single message. The next ones are changes of the task.
 *
 * @module
 */

import { deferred } from '../../../base/wake.ts'
import type { Follower } from '../../../runs/stored/host.ts'
import type { StoredLogEntry } from '../../../stores/store.ts'
import { isSettledState, isTerminalState, type Message, type TaskUpdate } from '../model.ts'
import type { TaskEntry } from './task-body.ts'
import type { TaskView } from './task-host.ts'

/** An update with its number in the log of its task. A client can continue after that number. */
export interface NumberedUpdate {
  readonly seq: number
  readonly update: TaskUpdate
}

/** Returns updates in batches as they come, and undefined at the end. */
export interface UpdateSource {
  next(): Promise<readonly NumberedUpdate[] | undefined>
  /** Is called when the reader leaves. The task continues. */
  leave(): void
}

/** Where a stream begins and ends. */
export interface UpdatesOptions {
  /** The task as the first update. */
  readonly view?: TaskView
  /** Whether the stream also ends when the task waits for its client. */
  readonly endsAtInterruption: boolean
}

/** A stream of a single message. */
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

/** Milliseconds after which a stream begins although its source is not ready. */
const BEGIN_MS = 1000

/** Returns the source once it is ready. After a second it returns one that waits for it, so that the client does not time out. */
export async function soonOrLater(source: Promise<UpdateSource>): Promise<UpdateSource> {
  const waiting: UpdateSource = {
    next: async () => (await source).next(),
    leave: () =>
      void source.then(
        known => known.leave(),
        () => {},
      ),
  }
  const { promise, resolve } = deferred<UpdateSource>()
  const timer = setTimeout(() => resolve(waiting), BEGIN_MS)
  try {
    return await Promise.race([source, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * A stream of a follower's entries, after the task itself. The first batch has the task and the entries that exist already.
 */
export function updatesOf(follower: Follower, { view, endsAtInterruption }: UpdatesOptions): UpdateSource {
  let opening: readonly NumberedUpdate[] =
    view === undefined ? [] : [{ seq: view.seq, update: { type: 'task', task: view.task } }]
  let isOver = view !== undefined && endsStream(view.task.status.state, endsAtInterruption)
  const take = (entries: readonly StoredLogEntry[]): readonly NumberedUpdate[] => {
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

/** Returns the update of a log entry. Entries of the history have none, because they belong only to `tasks/get`. */
function toUpdate({ seq, data }: { seq: number; data: string }): NumberedUpdate[] {
  // Only this room writes the log, so its entries have this shape.
  const entry = JSON.parse(data) as TaskEntry
  return entry.type === 'history' ? [] : [{ seq, update: entry }]
}

function endsWith(update: TaskUpdate, endsAtInterruption: boolean): boolean {
  return update.type === 'status' && endsStream(update.status.state, endsAtInterruption)
}

function endsStream(state: Parameters<typeof isTerminalState>[0], endsAtInterruption: boolean): boolean {
  return endsAtInterruption ? isSettledState(state) : isTerminalState(state)
}
