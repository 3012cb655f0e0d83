/**
 * Makes the next notice for a receiver from the entries of a task's log that it does not have.
 *
 * @module
 */

import type { Reader } from '../../../stores/store.ts'
import type { ArtifactUpdate, Part } from '../model.ts'
import { logOf, type TaskEntry, type TaskGathering } from '../tasks/task-body.ts'
import type { StoredTask } from '../tasks/task-record.ts'
import type { TaskViews } from '../tasks/task-views.ts'
import { v1 } from '../wire/v1.ts'
import { v03 } from '../wire/v03.ts'
import type { KeptPush } from './kept.ts'

/** One request to a receiver. */
export interface Notice {
  /** The last log entry in the notice. */
  readonly seq: number
  readonly body: string
  readonly contentType: string
  /** The content of the task in this notice. It can be held for the next one once the transaction is written. */
  readonly gathering?: TaskGathering
}

interface Entry {
  readonly seq: number
  readonly entry: TaskEntry
}

/** Entries that are read for one notice. */
const BATCH = 256

/** Most characters of text in a notice that joins several entries. */
const MAX_TEXT = 65_536

/**
 * Returns the next notice after `from`. If there is nothing to send, returns the number of the last entry that was read.
 * Receivers of 1.0 get each status and artifact, as on a stream. Waiting pieces of one artifact become one notice, and each
 * try sends the same pieces. Receivers of 0.2 and 0.3 get the task at each status.
 */
export function nextNotice(
  tx: Reader,
  { taskId, config, generation, upTo = Number.POSITIVE_INFINITY }: KeptPush,
  { task, from, views }: { readonly task: StoredTask; readonly from: number; readonly views: TaskViews },
): Notice | number {
  const isModern = config.version === '1.0'
  let seq = from
  let entries: Entry[]
  let first: number
  // A status may come after the first batch of entries.
  do {
    entries = readEntries(tx, taskId, seq)
    first = entries.findIndex(
      ({ entry }) => entry.type === 'status' || (isModern && entry.type === 'artifact'),
    )
    if (first === -1) seq = entries.at(-1)?.seq ?? seq
  } while (first === -1 && entries.length === BATCH)
  if (first === -1) return seq
  const { seq: at, entry } = entries[first]!
  if (entry.type === 'history') return at
  if (!isModern && entry.type === 'status') {
    const gathering = views.readApart(tx, taskId, { upTo: at, key: generation })
    const { artifacts, history } = gathering.body()
    const { id, contextId } = task
    const body = JSON.stringify(v03.encode.task({ id, contextId, status: entry.status, artifacts, history }))
    return { seq: at, body, contentType: 'application/json', gathering }
  }
  const sent =
    entry.type === 'artifact'
      ? joined(entries.slice(first).filter(({ seq }) => seq <= upTo))
      : { seq: at, update: entry }
  const body = JSON.stringify(v1.encode.update(sent.update))
  return { seq: sent.seq, body, contentType: 'application/a2a+json' }
}

function readEntries(tx: Reader, taskId: string, after: number): Entry[] {
  // Only this room writes the log, so its entries have this shape.
  return tx
    .read(logOf(taskId), after, BATCH)
    .map(({ seq, data }) => ({ seq, entry: JSON.parse(data) as TaskEntry }))
}

/** Joins the artifact of the first entry with what the next entries append to it. */
function joined(entries: readonly Entry[]): {
  seq: number
  update: ArtifactUpdate
} {
  let { seq, entry } = entries[0]!
  const first = entry as ArtifactUpdate
  const parts = [...first.artifact.parts]
  let { lastChunk } = first
  let length = JSON.stringify(parts).length
  for (const next of entries.slice(1)) {
    entry = next.entry
    if (entry.type === 'history') continue
    if (entry.type !== 'artifact' || !entry.append || entry.artifact.artifactId !== first.artifact.artifactId)
      break
    length += JSON.stringify(entry.artifact.parts).length
    if (length > MAX_TEXT) break
    for (const part of entry.artifact.parts) parts.push(part)
    joinSeam(parts)
    lastChunk = entry.lastChunk
    seq = next.seq
  }
  return { seq, update: { ...first, artifact: { ...first.artifact, parts }, lastChunk } }
}

/** Joins text at the seam of two pieces into one text. */
function joinSeam(parts: Part[]): void {
  const [last, before] = [parts.at(-1), parts.at(-2)]
  const isText = (part: typeof last) => part?.text !== undefined && Object.keys(part).length === 1
  if (isText(last) && isText(before)) parts.splice(-2, 2, { text: `${before?.text}${last?.text}` })
}
