/**
 * An artifact that comes in chunks. The page gets all of it each time, in place of what it had, so it is told only when there is
 * twice as much of it, and at its end: else a long one would cost the square of its length.
 *
 * @module
 */

import type { Artifact, ArtifactEvent, ContentPart } from '../../agents/contract.ts'

/** Characters from which an artifact waits until it has doubled. */
const SMALL = 256

/** See the module's head. Its files are told apart. */
export class GatheredArtifact {
  readonly #parts: ContentPart[] = []
  #about: Omit<Artifact, 'parts'>
  #length = 0
  #toldLength = 0
  #isTold = true

  constructor({ artifactId, name }: Artifact) {
    this.#about = { artifactId, ...(name !== undefined && { name }) }
  }

  /** Takes a chunk in. Gives the artifact if it is to be told now. */
  add({ parts, name, append, lastChunk }: ArtifactEvent): Artifact | undefined {
    if (name !== undefined) this.#about = { ...this.#about, name }
    for (const part of parts) if (part.type === 'text' || part.type === 'data') this.#join(part)
    const isDue = !append || lastChunk || this.#length < SMALL || this.#length >= 2 * this.#toldLength
    return isDue ? this.rest() : undefined
  }

  /** The artifact, if some of it was not told. */
  rest(): Artifact | undefined {
    if (this.#isTold) return undefined
    this.#isTold = true
    this.#toldLength = this.#length
    return { ...this.#about, parts: [...this.#parts] }
  }

  /** Text that goes on is one part. */
  #join(part: Extract<ContentPart, { type: 'text' | 'data' }>): void {
    this.#isTold = false
    this.#length += part.type === 'text' ? part.text.length : (JSON.stringify(part.data)?.length ?? 0)
    const last = this.#parts.at(-1)
    if (part.type !== 'text' || last?.type !== 'text') this.#parts.push(part)
    else this.#parts[this.#parts.length - 1] = { type: 'text', text: last.text + part.text }
  }
}
