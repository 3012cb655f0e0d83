/**
 * What a task has said and made, gathered from its log. What was gathered is added to, and not copied: each entry is read
 * once, and an artifact may come in any number of chunks.
 *
 * @module
 */

import { readLog } from '../state/read-log.ts'
import { sizeOf, sizeOfText } from '../state/size.ts'
import type { LogEntry, Reader } from '../state/store.ts'
import { logOf } from './log-name.ts'
import type { ArtifactUpdate, Message, Part, StatusUpdate, TaskArtifact } from './model.ts'

/** The collection of bodies: artifacts and history of a task, as of an entry of its log. */
export const BODIES = 'task-body'

/** What stands in a task's log. */
export type TaskEntry =
  | StatusUpdate
  | ArtifactUpdate
  | { readonly type: 'history'; readonly message: Message }

/** What a task has said and made, up to an entry of its log. */
export interface TaskBody {
  readonly artifacts: readonly TaskArtifact[]
  readonly history: readonly Message[]
  readonly seq: number
  /** Bytes, by estimate, of the log up to there. Earlier versions have not kept it. */
  readonly bytes?: number
}

/** An artifact so far. */
interface Gathered {
  readonly first: TaskArtifact
  readonly parts: Part[]
}

/** A body that grows with its log. */
export class Gathering {
  /** Entries that were read from the log, beside what was kept of it. */
  read = 0
  #seq = 0
  #bytes = 0
  #size = 0
  readonly #artifacts = new Map<string, Gathered>()
  readonly #history: Message[] = []

  /** Begins with what is kept of a task's log. */
  static of(tx: Reader, taskId: string): Gathering {
    const gathering = new Gathering()
    const kept = tx.get<TaskBody>(BODIES, taskId)?.value
    if (kept?.bytes !== undefined) gathering.#begin(kept, kept.bytes)
    return gathering
  }

  /** The entry up to which it is gathered. */
  get seq(): number {
    return this.#seq
  }

  /** Bytes, by estimate, of the log up to there. */
  get bytes(): number {
    return this.#bytes
  }

  /** Bytes, by estimate, that it takes itself. */
  get size(): number {
    return this.#size
  }

  /** Another one that goes on by itself. */
  copy(): Gathering {
    const copy = new Gathering()
    for (const [id, { first, parts }] of this.#artifacts)
      copy.#artifacts.set(id, { first, parts: [...parts] })
    for (const message of this.#history) copy.#history.push(message)
    copy.#seq = this.#seq
    copy.#bytes = this.#bytes
    copy.#size = this.#size
    copy.read = this.read
    return copy
  }

  /** Adds what the log of the task says after that, up to an entry. */
  readOn(tx: Reader, taskId: string, upTo: number = Number.POSITIVE_INFINITY): this {
    if (this.#seq >= upTo) return this
    for (const entry of readLog(tx, logOf(taskId), this.#seq)) {
      if (entry.seq > upTo) break
      this.#add(entry)
    }
    return this
  }

  /** What is gathered, as it is now. */
  body(): Required<TaskBody> {
    return {
      artifacts: Array.from(this.#artifacts.values(), ({ first, parts }) => ({
        ...first,
        parts: [...parts],
      })),
      history: [...this.#history],
      seq: this.#seq,
      bytes: this.#bytes,
    }
  }

  #begin({ artifacts, history, seq }: TaskBody, bytes: number): void {
    for (const first of artifacts) {
      this.#size += sizeOf(first) ?? 0
      this.#artifacts.set(first.artifactId, { first, parts: [...first.parts] })
    }
    for (const message of history) this.#tell(message)
    this.#seq = seq
    this.#bytes = bytes
  }

  #add({ seq, data }: LogEntry): void {
    this.#seq = seq
    this.#bytes += sizeOfText(data)
    this.read++
    // The log holds what this room wrote into it.
    const entry = JSON.parse(data) as TaskEntry
    if (entry.type === 'history') this.#tell(entry.message)
    else if (entry.type === 'artifact') this.#grow(entry)
  }

  #tell(message: Message): void {
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
      // Text that follows text is one text: a streamed answer is read as it was said.
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
