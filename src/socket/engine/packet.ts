/**
 * The packets of Engine.IO v4 (its protocol text, "Packet encoding"). A frame is a packet as a WebSocket carries it:
 * text that begins with the packet's type, or the bytes of a binary message as they are. A polling payload is frames
 * with a separator between them, binary ones in base64; a client that has no binary frames sends them so on a WebSocket too.
 *
 * @module
 */

import { fromBase64, toBase64 } from '../../web/base64.ts'

/** A packet as it stands in a WebSocket frame. */
export type Frame = string | Uint8Array

/** The types of packets, as their character codes: what a frame begins with. */
export const OPEN = 48
export const CLOSE = 49
export const PONG = 51
export const MESSAGE = 52
export const NOOP = 54
/** What begins bytes in base64. */
export const BASE64 = 98

export const CLOSE_FRAME = '1'
export const PING_FRAME = '2'
export const NOOP_FRAME = '6'
/** What the client asks on the new transport, and what it is answered ("Upgrade"). */
export const PROBE_FRAME = '2probe'
export const PROBED_FRAME = '3probe'

const SEPARATOR = '\x1e'
const BINARY_PREFIX = 'b'

/** The frame of a message. Bytes are their own frame. */
export function messageFrame(data: string | Uint8Array): Frame {
  return typeof data === 'string' ? `4${data}` : data
}

/** Whether the frame begins with one of the seven types. Bytes are always a message. */
export function isFrame(frame: Frame): boolean {
  if (typeof frame !== 'string') return true
  const type = frame.charCodeAt(0)
  return type >= OPEN && type <= NOOP
}

/** A frame as text, whatever it is. */
export function textFrame(frame: Frame): string {
  return typeof frame === 'string' ? frame : BINARY_PREFIX + toBase64(frame)
}

/** The frame that a text stands for: itself, or the bytes that it has in base64. Undefined for what is no base64. */
export function readTextFrame(text: string): Frame | undefined {
  return text.startsWith(BINARY_PREFIX) ? fromBase64(text.slice(1)) : text
}

/** Frames as the body of an HTTP request or response. */
export function encodePayload(frames: readonly Frame[]): string {
  let payload = ''
  for (let i = 0; i < frames.length; i++) {
    if (i > 0) payload += SEPARATOR
    payload += textFrame(frames[i]!)
  }
  return payload
}

/** The frames of a body, or undefined where one of them is none. */
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
