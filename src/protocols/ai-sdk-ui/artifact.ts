/**
 * An artifact that comes in chunks. The page gets the whole artifact each time. So it is sent only when its length has doubled,
 * and at its end. Otherwise a long artifact would cost the square of its length.
 *
 * @module
 */

import type { Artifact, ArtifactEvent, ContentPart } from '../../core-entry.ts'

/** Characters below which an artifact is sent with each chunk. */
const SMALL = 256

/** Gathers the chunks of one artifact, and decides when to send it. Its files are sent separately. */
export class GatheredArtifact {
  readonly #parts: ContentPart[] = []
  #about: Omit<Artifact, 'parts'>
  #length = 0
  #sentLength = 0
  #isSent = true

  constructor({ artifactId, name }: Artifact) {
    this.#about = { artifactId, ...(name !== undefined && { name }) }
  }

  /** Adds a chunk. Returns the artifact if it is to be sent now. */
  add({ parts, name, append, lastChunk }: ArtifactEvent): Artifact | undefined {
    if (name !== undefined) this.#about = { ...this.#about, name }
    for (const part of parts) if (part.type === 'text' || part.type === 'data') this.#join(part)
    const isDue = !append || lastChunk || this.#length < SMALL || this.#length >= 2 * this.#sentLength
    return isDue ? this.rest() : undefined
  }

  /** Returns the artifact if a part of it was not sent. */
  rest(): Artifact | undefined {
    if (this.#isSent) return undefined
    this.#isSent = true
    this.#sentLength = this.#length
    return { ...this.#about, parts: [...this.#parts] }
  }

  /** Adds a part. Text after text extends the same part. */
  #join(part: Extract<ContentPart, { type: 'text' | 'data' }>): void {
    this.#isSent = false
    this.#length += part.type === 'text' ? part.text.length : (JSON.stringify(part.data)?.length ?? 0)
    const last = this.#parts.at(-1)
    if (part.type !== 'text' || last?.type !== 'text') this.#parts.push(part)
    else this.#parts[this.#parts.length - 1] = { type: 'text', text: last.text + part.text }
  }
}
