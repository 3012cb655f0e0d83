/**
 * The messages and artifacts of a task, gathered from its log. A gathering grows in place and reads each entry once, so an
 * artifact may come in any number of chunks.
 *
 * @module
 */

import { readLog } from '../../../stores/read-log.ts'
import { sizeOf, sizeOfText } from '../../../stores/size.ts'
import type { Reader, StoredLogEntry } from '../../../stores/store.ts'
import {
  type ArtifactUpdate,
  isSettledState,
  type Message,
  type Part,
  type StatusUpdate,
  type TaskArtifact,
  type TaskStatus,
} from '../model.ts'

/** The collection of bodies: artifacts and history of a task, up to an entry of its log. */
export const BODIES = 'task-body'

/** An entry of a task's log. */
export type TaskEntry =
  | StatusUpdate
  | ArtifactUpdate
  | { readonly type: 'history'; readonly message: Message }

/** Whether a task waits for its client, or has ended, after an entry. */
export function isSettling(entry: TaskEntry): boolean {
  return entry.type === 'status' && isSettledState(entry.status.state)
}

/** The messages and artifacts of a task, up to an entry of its log. */
export interface TaskBody {
  readonly artifacts: readonly TaskArtifact[]
  readonly history: readonly Message[]
  /** The last status, if the agent is at work. Documents of earlier versions do not have it. */
  readonly progress?: TaskStatus | undefined
  readonly seq: number
  /** Bytes of the log up to that entry, by estimate. Documents of earlier versions do not have it. */
  readonly bytes?: number
}

/** An artifact so far. */
interface Gathered {
  readonly first: TaskArtifact
  readonly parts: Part[]
}

/** A body that grows with its log. */
export class TaskGathering {
  /** How many entries were read from the log. The stored body does not count. */
  read = 0
  #seq = 0
  #bytes = 0
  #size = 0
  readonly #artifacts = new Map<string, Gathered>()
  readonly #history: Message[] = []
  #progress: TaskStatus | undefined

  /** Begins with the stored body of a task, if there is one. */
  static of(tx: Reader, taskId: string): TaskGathering {
    const gathering = new TaskGathering()
    const kept = tx.get<TaskBody>(BODIES, taskId)?.value
    if (kept?.bytes !== undefined) gathering.#begin(kept, kept.bytes)
    return gathering
  }

  /** The last entry that was read. */
  get seq(): number {
    return this.#seq
  }

  /** Bytes of the log up to that entry, by estimate. */
  get bytes(): number {
    return this.#bytes
  }

  /** Bytes that this gathering takes, by estimate. */
  get size(): number {
    return this.#size
  }

  /** The messages so far. */
  get history(): readonly Message[] {
    return this.#history
  }

  /** Returns an independent copy. */
  copy(): TaskGathering {
    const copy = new TaskGathering()
    for (const [id, { first, parts }] of this.#artifacts)
      copy.#artifacts.set(id, { first, parts: [...parts] })
    for (const message of this.#history) copy.#history.push(message)
    copy.#progress = this.#progress
    copy.#seq = this.#seq
    copy.#bytes = this.#bytes
    copy.#size = this.#size
    copy.read = this.read
    return copy
  }

  /** Reads the next entries of the log, up to entry `upTo`. */
  readOn(tx: Reader, taskId: string, upTo: number = Number.POSITIVE_INFINITY): this {
    if (this.#seq >= upTo) return this
    for (const entry of readLog(tx, logOf(taskId), this.#seq)) {
      if (entry.seq > upTo) break
      this.#add(entry)
    }
    return this
  }

  /** Returns the body as it is now. */
  body(): Required<Omit<TaskBody, 'progress'>> & Pick<TaskBody, 'progress'> {
    return {
      artifacts: Array.from(this.#artifacts.values(), ({ first, parts }) => ({
        ...first,
        parts: [...parts],
      })),
      history: [...this.#history],
      progress: this.#progress,
      seq: this.#seq,
      bytes: this.#bytes,
    }
  }

  #begin({ artifacts, history, seq, progress }: TaskBody, bytes: number): void {
    for (const first of artifacts) {
      this.#size += sizeOf(first) ?? 0
      this.#artifacts.set(first.artifactId, { first, parts: [...first.parts] })
    }
    for (const message of history) this.#addMessage(message)
    this.#progress = progress
    this.#seq = seq
    this.#bytes = bytes
  }

  #add({ seq, data }: StoredLogEntry): void {
    this.#seq = seq
    this.#bytes += sizeOfText(data)
    this.read++
    // Only this room writes the log, so its entries have this shape.
    const entry = JSON.parse(data) as TaskEntry
    if (entry.type === 'history') this.#addMessage(entry.message)
    else if (entry.type === 'artifact') this.#grow(entry)
    else this.#progress = entry.status.state === 'working' ? entry.status : undefined
  }

  #addMessage(message: Message): void {
    this.#size += sizeOf(message) ?? 0
    this.#history.push(message)
  }

  #grow({ artifact, append }: ArtifactUpdate): void {
    const { artifactId } = artifact
    const before = this.#artifacts.get(artifactId)
    if (before === undefined || !append) {
      if (before !== undefined) this.#size -= sizeOf({ ...before.first, parts: before.parts }) ?? 0
      this.#size += sizeOf(artifact) ?? 0
      this.#artifacts.set(artifactId, { first: artifact, parts: [...artifact.parts] })
      return
    }
    for (const part of artifact.parts) {
      const last = before.parts.at(-1)
      // Streamed text becomes one part.
      if (isPlainText(last) && isPlainText(part)) {
        before.parts[before.parts.length - 1] = { text: `${last.text}${part.text}` }
        this.#size += sizeOfText(part.text) - sizeOfText('')
      } else {
        before.parts.push(part)
        this.#size += sizeOf(part) ?? 0
      }
    }
  }
}

function isPlainText(part: Part | undefined): part is { text: string } {
  return part?.text !== undefined && Object.keys(part).length === 1
}

/** The name of a task's log. A full store deletes all parts of a task under this name. */
export function logOf(taskId: string): string {
  return `task:${taskId}`
}
