/** What a store takes with a file. */
export interface FileFacts {
  /** A valid media type. It is what an agent or a client said, not what was found in the file. */
  readonly mimeType: string
}

/** What a store gives for a file. */
export type FileBytes = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

type Soon<T> = T | Promise<T>

/**
 * A store of your own for the bytes of files. The handler's `state` still has who refers to them. A name is 64 hexadecimal digits
 * of the SHA-256, a hyphen and 8 random ones; no part of it comes from a client. A file of a name never changes.
 */
export interface FileStore {
  /** Writes a file, or writes it again. A file that is not complete must not be found. */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, facts: FileFacts): Soon<unknown>
  /** The file, or nothing if there is none. */
  get(name: string): Soon<FileBytes | null | undefined>
  /** Deletes a file. One that is not there is no error. */
  delete(name: string): Soon<unknown>
  /** Whether there is a file: asked before one that was written earlier is not written again. */
  has(name: string): Soon<boolean>
}
