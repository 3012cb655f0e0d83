/**
 * The packets of Engine.IO v4 (its protocol text, "Packet encoding"). A frame is a packet on a WebSocket: text that begins
 * with the packet's type, or the bytes of a binary message. A polling payload is a list of frames with separators, with
 * binary ones in base64. For a client without binary frames, WebSockets use base64 too.
 *
 * @module
 */

import { fromBase64, toBase64 } from '../../../../web/base64.ts'

/** The content of a WebSocket frame. */
export type Frame = string | Uint8Array

/** The character codes of packet types. A frame begins with one of them. */
export const OPEN = 48
export const CLOSE = 49
export const PONG = 51
export const MESSAGE = 52
export const NOOP = 54
/** The character before bytes in base64. */
export const BASE64 = 98

export const CLOSE_FRAME = '1'
export const PING_FRAME = '2'
export const NOOP_FRAME = '6'
/** The client's request on the new transport, and its answer ("Upgrade"). */
export const PROBE_FRAME = '2probe'
export const PROBED_FRAME = '3probe'

const SEPARATOR = '\x1e'
const BINARY_PREFIX = 'b'

/** Makes the frame of a message. Bytes are their own frame. */
export function messageFrame(data: string | Uint8Array): Frame {
  return typeof data === 'string' ? `4${data}` : data
}

/** Whether a frame begins with one of the seven types. Bytes are always a message. */
export function isFrame(frame: Frame): boolean {
  if (typeof frame !== 'string') return true
  const type = frame.charCodeAt(0)
  return type >= OPEN && type <= NOOP
}

/** Writes a frame as text. */
export function textFrame(frame: Frame): string {
  return typeof frame === 'string' ? frame : BINARY_PREFIX + toBase64(frame)
}

/** Reads a frame from text: the text itself, or the bytes that it has in base64. Returns undefined for invalid base64. */
export function readTextFrame(text: string): Frame | undefined {
  return text.startsWith(BINARY_PREFIX) ? fromBase64(text.slice(1)) : text
}

/** Writes frames as the body of an HTTP request or response. */
export function encodePayload(frames: readonly Frame[]): string {
  let payload = ''
  for (let i = 0; i < frames.length; i++) {
    if (i > 0) payload += SEPARATOR
    payload += textFrame(frames[i]!)
  }
  return payload
}

/** Reads the frames of a body. Returns undefined if one of them is invalid. */
export function decodePayload(payload: string): Frame[] | undefined {
  const frames: Frame[] = []
  for (let start = 0; start <= payload.length; ) {
    const separator = payload.indexOf(SEPARATOR, start)
    const end = separator === -1 ? payload.length : separator
    const frame = readTextFrame(payload.slice(start, end))
    if (frame === undefined || !isFrame(frame)) return undefined
    frames.push(frame)
    start = end + 1
  }
  return frames
}
