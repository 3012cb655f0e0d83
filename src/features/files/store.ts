/** The data that a store gets with a file. */
export interface FileFacts {
  /** A valid media type. It comes from the agent or client; the content was not checked. */
  readonly mimeType: string
}

/** The content of a file, as a store returns it. */
export type FileBytes = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

type Soon<T> = T | Promise<T>

/**
 * A custom store for the bytes of files. The handler's `state` still stores the references to them. A name is 64 hexadecimal
 * digits of the SHA-256, a hyphen and 8 random ones; no part of it comes from a client. The file of a name never changes.
 */
export interface FileStore {
  /** Writes a file, or writes it again. An incomplete file must not be found. */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, facts: FileFacts): Soon<unknown>
  /** Returns the file, or nothing if there is none. */
  get(name: string): Soon<FileBytes | null | undefined>
  /** Deletes a file. A missing file is no error. */
  delete(name: string): Soon<unknown>
  /** Whether there is a file. Called before the second write of an earlier file is skipped. */
  has(name: string): Soon<boolean>
}
