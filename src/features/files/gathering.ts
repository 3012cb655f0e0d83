import { joined } from './bytes.ts'
import type { Content, FilePart } from './content.ts'

/** An artifact whose last chunk has not come, and the file in it that may go on. */
export class Gathering {
  /** Of the artifact, as it was told last. */
  name: string | undefined
  #file: FilePart | undefined
  #chunks: Uint8Array<ArrayBuffer>[] = []
  #size = 0

  /** Bytes of the file so far. */
  get size(): number {
    return this.#size
  }

  /** Whether a part is the next chunk of the file: what it says of itself is the same, or nothing. */
  goesOnWith(part: FilePart): boolean {
    const file = this.#file
    if (file === undefined || part.type !== file.type) return false
    const name = nameOf(file)
    return (part.mimeType ?? file.mimeType) === file.mimeType && (nameOf(part) ?? name) === name
  }

  /** Takes a chunk: the next one, or the first one of another file. */
  add(part: FilePart, { bytes, mimeType }: Content): void {
    this.#file ??= { ...part, data: '', ...(mimeType !== undefined && { mimeType }) } as FilePart
    this.#chunks.push(bytes)
    this.#size += bytes.length
  }

  /** The file, which goes on no more. */
  take(): { readonly part: FilePart; readonly content: Content } | undefined {
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
