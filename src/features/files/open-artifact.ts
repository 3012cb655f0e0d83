import { joined } from './bytes.ts'
import type { FileContent, FilePart } from './content.ts'

/** An artifact without its last chunk, and the file in it that may continue. */
export class OpenArtifact {
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
