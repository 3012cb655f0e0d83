/** A file that a test has made: how many bytes, and which. */
export interface Made {
  readonly size: number
  readonly seed?: number
}

/** The bytes of a made file. */
export function bytesOf({ size, seed = 0 }: Made): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (let index = 0; index < size; index++) bytes[index] = (index * 31 + (index >> 8) + seed) & 255
  return bytes
}
