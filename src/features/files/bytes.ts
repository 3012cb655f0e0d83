/**
 * Converts files to bytes, and to pieces of base64 that fit a row of every store.
 *
 * @module
 */

import { fromBase64, toBase64 } from '../../web/base64.ts'

/** Bytes of a piece. */
const PIECE_BYTES = 240 * 1024

/** Pieces that are written or read at once. */
export const AT_ONCE = 8

/** The number of pieces of a file. An empty file has one. */
export function pieceCount(size: number): number {
  return Math.max(1, Math.ceil(size / PIECE_BYTES))
}

/** Pieces of a file from index `from` on, as many as are written at once. */
export function piecesOf(bytes: Uint8Array, from: number): string[] {
  const texts: string[] = []
  const end = Math.min(from + AT_ONCE, pieceCount(bytes.length))
  for (let index = from; index < end; index++) {
    texts.push(toBase64(bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES)))
  }
  return texts
}

/** The bytes of pieces. */
export function bytesOfPieces(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
  return joined(pieces.flatMap(piece => fromBase64(piece) ?? []))
}

/** Joins byte arrays. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** A stream that reads pieces only on demand. */
export function streamOf(
  first: Uint8Array,
  more: () => Promise<Uint8Array>,
  isOver: () => boolean,
): ReadableStream<Uint8Array> {
  let ready: Uint8Array | undefined = first
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    controller.enqueue(ready ?? (await more()))
    ready = undefined
    if (isOver()) controller.close()
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

/** The SHA-256, in hexadecimal digits. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}
