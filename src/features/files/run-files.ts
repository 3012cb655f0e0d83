/**
 * The files of one run, as its events come: data becomes an address, and a file that comes in chunks becomes one.
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
import { artifactSpot, messageSpot, placeOf, type Spot } from './address.ts'
import { type Content, contentOf, type FilePart, fileNameOf, isFilePart, mediaTypeOf } from './content.ts'
import { Gathering } from './gathering.ts'
import type { Storing } from './storing.ts'

/** What is to be written of an event; undefined where that is the event as it is. */
type Taken = Promise<readonly RunEvent[]> | undefined

/** Where the next part stands. */
interface Standing {
  readonly spot: Spot
  readonly index: number
  readonly name: string | undefined
}

/** See the module's head. */
export class RunFilesWriter implements RunFiles {
  readonly #files: Storing
  readonly #run: FileOwner
  /** How many parts were told, by artifact. */
  readonly #told = new Map<string, number>()
  readonly #gathering = new Map<string, Gathering>()
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
    // What is cut off is no file.
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
        parts.push(await this.#asTold(part, { spot, index: parts.length, name: undefined }))
      }
      return [{ ...event, parts }]
    })
  }

  #takeArtifact(event: ArtifactEvent, signal: AbortSignal): Taken {
    const { artifactId, parts, append, lastChunk } = event
    if (append !== true) this.#begin(artifactId, lastChunk === false)
    const gathering = this.#gathering.get(artifactId)
    if (gathering !== undefined) return unless(signal, () => this.#gather(event, gathering))
    const before = this.#told.get(artifactId) ?? 0
    this.#told.set(artifactId, before + parts.length)
    if (!parts.some(part => this.#isLarge(part))) return undefined
    return unless(signal, () => this.#whole(event, before))
  }

  #begin(artifactId: string, isInChunks: boolean): void {
    this.#told.delete(artifactId)
    if (isInChunks) this.#gathering.set(artifactId, new Gathering())
    else this.#gathering.delete(artifactId)
  }

  async #whole(event: ArtifactEvent, before: number): Promise<readonly RunEvent[]> {
    const spot = await artifactSpot(event.artifactId)
    const { name } = event
    const parts: ContentPart[] = []
    for (const part of event.parts) {
      parts.push(await this.#asTold(part, { spot, index: before + parts.length, name }))
    }
    return [{ ...event, parts }]
  }

  /** Takes a chunk of an artifact. */
  async #gather(event: ArtifactEvent, gathering: Gathering): Promise<readonly RunEvent[]> {
    const { artifactId, name, append = false, lastChunk = false } = event
    const told = this.#told.get(artifactId) ?? 0
    const spot = await artifactSpot(artifactId)
    const parts: ContentPart[] = []
    const standing = (): Standing => ({ spot, index: told + parts.length, name: gathering.name })
    const flush = async () => {
      const file = gathering.take()
      if (file !== undefined) parts.push(await this.#stored(file.part, file.content, standing()))
    }
    gathering.name = name ?? gathering.name
    for (const [index, part] of event.parts.entries()) {
      // Two parts of one event are two files.
      if (index > 0 || !isFilePart(part) || !gathering.goesOnWith(part)) await flush()
      if (!(await this.#add(gathering, part))) parts.push(await this.#asTold(part, standing()))
    }
    if (lastChunk) {
      await flush()
      this.#gathering.delete(artifactId)
    }
    this.#told.set(artifactId, told + parts.length)
    // The first chunk is told whatever it has: it may stand in the place of an earlier artifact.
    return parts.length === 0 && append && !lastChunk ? [] : [{ ...event, parts }]
  }

  /** Whether a part is a file, which may go on with the next chunk. */
  async #add(gathering: Gathering, part: ContentPart): Promise<boolean> {
    const content = isFilePart(part) ? await contentOf(part) : undefined
    if (!isFilePart(part) || content === undefined) return false
    this.#grow(part.data.length)
    gathering.add(part, content)
    this.#files.check(gathering.size)
    return true
  }

  /** What was not said to be complete, when the run has ended. */
  async #rest(): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = []
    for (const [artifactId, gathering] of this.#gathering) {
      const { name } = gathering
      const end: ArtifactEvent = {
        type: 'artifact',
        artifactId,
        name,
        parts: [],
        append: true,
        lastChunk: true,
      }
      const rest = await this.#gather(end, gathering)
      events.push(...rest.filter(event => event.type === 'artifact' && event.parts.length > 0))
    }
    return events
  }

  /** A part as it is to be told. */
  async #asTold(part: ContentPart, standing: Standing): Promise<ContentPart> {
    if (!isFilePart(part) || !this.#isLarge(part)) return part
    this.#grow(part.data.length)
    const content = await contentOf(part)
    return content === undefined ? part : this.#stored(part, content, standing)
  }

  /** A part with the address of its file; a small one with its data. */
  async #stored(
    part: FilePart,
    { bytes, mimeType }: Content,
    { spot, index, name }: Standing,
  ): Promise<ContentPart> {
    if (bytes.length <= this.#files.settings.inlineBytes) {
      return part.data === '' ? { ...part, data: toBase64(bytes) } : part
    }
    const { runId } = this.#run
    const filename = fileNameOf((part.type === 'file' ? part.filename : undefined) ?? name)
    const found = mimeType ?? sniff(bytes.subarray(0, HEAD_BYTES))
    await this.#files.store({ ...this.#run, refId: runId, place: placeOf(spot.key, index) }, bytes, {
      mimeType: mediaTypeOf(found),
      filename,
    })
    const data = this.#files.addressOf(runId, spot, index)
    return { ...part, ...(mimeType !== undefined && { mimeType }), data } as FilePart
  }

  /** Whether the data of a part may be more than what stays in events. Looks at no more than its length. */
  #isLarge(part: ContentPart): boolean {
    return isFilePart(part) && part.data.length > this.#files.settings.inlineBytes
  }

  #grow(by: number): void {
    this.#length += by
    const { maxLength } = this.#files
    if (this.#length <= maxLength) return
    throw new ServableError('run_too_large', `The files of the run are larger than ${maxLength} characters`)
  }
}
