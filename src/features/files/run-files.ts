/**
 * Replaces the files of one run in its events: data becomes an address, and the chunks of a file become one file.
 *
 * @module
 */

import type { ArtifactEvent, ContentPart, MessageEvent, RunEvent } from '../../agents/contract.ts'
import { isTerminal } from '../../agents/event.ts'
import { ServableError } from '../../base/errors.ts'
import { unless } from '../../base/wake.ts'
import { HEAD_BYTES, sniff } from '../../http/limits/file-types.ts'
import type { FileOwner, RunFiles } from '../../runs/files.ts'
import { toBase64 } from '../../web/base64.ts'
import { artifactSpot, messageSpot, partKeyOf, type Spot } from './address.ts'
import { joined } from './bytes.ts'
import { contentOf, type FileContent, type FilePart, fileNameOf, isFilePart, mediaTypeOf } from './content.ts'
import { INLINE_BYTES, type Storing } from './store.ts'

/** The events to write in place of an event. Undefined if the event is written unchanged. */
type Taken = Promise<readonly RunEvent[]> | undefined

/** The position of the next part. */
interface PartPosition {
  readonly spot: Spot
  readonly index: number
  readonly name: string | undefined
}

/** Writes the files of one run. */
export class RunFilesWriter implements RunFiles {
  readonly #files: Storing
  readonly #run: FileOwner
  /** The number of emitted parts, by artifact. */
  readonly #emitted = new Map<string, number>()
  readonly #gathering = new Map<string, OpenArtifact>()
  #messages = 0
  #length = 0

  constructor(files: Storing, run: FileOwner) {
    this.#files = files
    this.#run = run
  }

  take(event: RunEvent, signal: AbortSignal): Taken {
    if (event.type === 'message') return this.#takeMessage(event, signal)
    if (event.type === 'artifact') return this.#takeArtifact(event, signal)
    if (!isTerminal(event) || this.#gathering.size === 0) return undefined
    // A file that is cut off is dropped.
    if (event.type === 'error' || event.finishReason === 'cancelled') return undefined
    return this.#rest().then(artifacts => [...artifacts, event])
  }

  #takeMessage(event: MessageEvent, signal: AbortSignal): Taken {
    this.#messages++
    const spot = messageSpot(this.#messages)
    if (!event.parts.some(part => this.#isLarge(part))) return undefined
    return unless(signal, async () => {
      const parts: ContentPart[] = []
      for (const part of event.parts) {
        parts.push(await this.#toEmitted(part, { spot, index: parts.length, name: undefined }))
      }
      return [{ ...event, parts }]
    })
  }

  #takeArtifact(event: ArtifactEvent, signal: AbortSignal): Taken {
    const { artifactId, parts, append, lastChunk } = event
    if (append !== true) this.#begin(artifactId, lastChunk === false)
    const artifact = this.#gathering.get(artifactId)
    if (artifact !== undefined) return unless(signal, () => this.#gather(event, artifact))
    const before = this.#emitted.get(artifactId) ?? 0
    this.#emitted.set(artifactId, before + parts.length)
    if (!parts.some(part => this.#isLarge(part))) return undefined
    return unless(signal, () => this.#whole(event, before))
  }

  #begin(artifactId: string, isInChunks: boolean): void {
    this.#emitted.delete(artifactId)
    if (isInChunks) this.#gathering.set(artifactId, new OpenArtifact())
    else this.#gathering.delete(artifactId)
  }

  async #whole(event: ArtifactEvent, before: number): Promise<readonly RunEvent[]> {
    const spot = await artifactSpot(event.artifactId)
    const { name } = event
    const parts: ContentPart[] = []
    for (const part of event.parts) {
      parts.push(await this.#toEmitted(part, { spot, index: before + parts.length, name }))
    }
    return [{ ...event, parts }]
  }

  /** Handles a chunk of an artifact. */
  async #gather(event: ArtifactEvent, artifact: OpenArtifact): Promise<readonly RunEvent[]> {
    const { artifactId, name, append = false, lastChunk = false } = event
    const emitted = this.#emitted.get(artifactId) ?? 0
    const spot = await artifactSpot(artifactId)
    const parts: ContentPart[] = []
    const position = (): PartPosition => ({ spot, index: emitted + parts.length, name: artifact.name })
    const flush = async () => {
      const file = artifact.take()
      if (file !== undefined) parts.push(await this.#stored(file.part, file.content, position()))
    }
    artifact.name = name ?? artifact.name
    for (const [index, part] of event.parts.entries()) {
      // Two parts of one event are two files.
      if (index > 0 || !isFilePart(part) || !artifact.goesOnWith(part)) await flush()
      if (!(await this.#add(artifact, part))) parts.push(await this.#toEmitted(part, position()))
    }
    if (lastChunk) {
      await flush()
      this.#gathering.delete(artifactId)
    }
    this.#emitted.set(artifactId, emitted + parts.length)
    // The first chunk is always emitted, even without parts, since it may replace an earlier artifact.
    return parts.length === 0 && append && !lastChunk ? [] : [{ ...event, parts }]
  }

  /** Adds a part to the open file, if it is a file that the next chunk may continue. Returns whether it is. */
  async #add(artifact: OpenArtifact, part: ContentPart): Promise<boolean> {
    const content = isFilePart(part) ? await contentOf(part) : undefined
    if (!isFilePart(part) || content === undefined) return false
    this.#grow(part.data.length)
    artifact.add(part, content)
    this.#files.check(artifact.size)
    return true
  }

  /** The events for incomplete artifacts at the end of the run. */
  async #rest(): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = []
    for (const [artifactId, artifact] of this.#gathering) {
      const { name } = artifact
      const end: ArtifactEvent = {
        type: 'artifact',
        artifactId,
        name,
        parts: [],
        append: true,
        lastChunk: true,
      }
      const rest = await this.#gather(end, artifact)
      events.push(...rest.filter(event => event.type === 'artifact' && event.parts.length > 0))
    }
    return events
  }

  /** A part in the form for the event. */
  async #toEmitted(part: ContentPart, position: PartPosition): Promise<ContentPart> {
    if (!isFilePart(part) || !this.#isLarge(part)) return part
    this.#grow(part.data.length)
    const content = await contentOf(part)
    return content === undefined ? part : this.#stored(part, content, position)
  }

  /** A part with the address of its file. A small file keeps its data. */
  async #stored(
    part: FilePart,
    { bytes, mimeType }: FileContent,
    { spot, index, name }: PartPosition,
  ): Promise<ContentPart> {
    if (bytes.length <= INLINE_BYTES) {
      return part.data === '' ? { ...part, data: toBase64(bytes) } : part
    }
    const { runId } = this.#run
    const filename = fileNameOf((part.type === 'file' ? part.filename : undefined) ?? name)
    const found = mimeType ?? sniff(bytes.subarray(0, HEAD_BYTES))
    await this.#files.store({ ...this.#run, refId: runId, place: partKeyOf(spot.key, index) }, bytes, {
      mimeType: mediaTypeOf(found),
      filename,
    })
    const data = this.#files.addressOf(runId, spot, index)
    return { ...part, ...(mimeType !== undefined && { mimeType }), data } as FilePart
  }

  /** Whether the data of a part may exceed the size that stays in events. It checks only the length. */
  #isLarge(part: ContentPart): boolean {
    return isFilePart(part) && part.data.length > INLINE_BYTES
  }

  #grow(by: number): void {
    this.#length += by
    const { maxLength } = this.#files
    if (this.#length <= maxLength) return
    throw new ServableError('run_too_large', `The files of the run are larger than ${maxLength} characters`)
  }
}

/** An artifact without its last chunk, and the file in it that may continue. */
class OpenArtifact {
  /** The last name of the artifact. */
  name: string | undefined
  #file: FilePart | undefined
  #chunks: Uint8Array<ArrayBuffer>[] = []
  #size = 0

  /** Bytes of the file so far. */
  get size(): number {
    return this.#size
  }

  /** Whether a part is the next chunk of the file: its metadata is the same or absent. */
  goesOnWith(part: FilePart): boolean {
    const file = this.#file
    if (file === undefined || part.type !== file.type) return false
    const name = nameOf(file)
    return (part.mimeType ?? file.mimeType) === file.mimeType && (nameOf(part) ?? name) === name
  }

  /** Adds a chunk: the next one, or the first one of another file. */
  add(part: FilePart, { bytes, mimeType }: FileContent): void {
    this.#file ??= { ...part, data: '', ...(mimeType !== undefined && { mimeType }) } as FilePart
    this.#chunks.push(bytes)
    this.#size += bytes.length
  }

  /** Ends the file and returns it. */
  take(): { readonly part: FilePart; readonly content: FileContent } | undefined {
    const part = this.#file
    if (part === undefined) return undefined
    const content = { bytes: joined(this.#chunks), mimeType: part.mimeType }
    this.#file = undefined
    this.#chunks = []
    this.#size = 0
    return { part, content }
  }
}

function nameOf(part: FilePart): string | undefined {
  return part.type === 'file' ? part.filename : undefined
}
