/**
 * The packets of Socket.IO v5 as text (its protocol text, "Packet encoding"): `<type>[<attachments>-][<namespace>,][<ack
 * id>][<JSON>]`. Reading is strict: text that the protocol's own encoder would never write is not a packet.
 *
 * @module
 */

import { parseJson } from '../../../../web/json.ts'
import { isBinary, putBinary, takeBinary } from './binary.ts'

/** The digits of packet types. */
export const CONNECT = 0
export const DISCONNECT = 1
export const EVENT = 2
export const ACK = 3
export const CONNECT_ERROR = 4
export const BINARY_EVENT = 5
export const BINARY_ACK = 6

/** Most attachments of a packet. */
export const MAX_ATTACHMENTS = 10

/** A packet with its attachments in place. */
export type Packet =
  | {
      readonly type: typeof CONNECT
      readonly nsp: string
      readonly data: Record<string, unknown> | undefined
    }
  | { readonly type: typeof DISCONNECT; readonly nsp: string }
  | {
      readonly type: typeof EVENT
      readonly nsp: string
      readonly data: unknown[]
      readonly id: number | undefined
    }
  | {
      readonly type: typeof ACK
      readonly nsp: string
      readonly data: unknown[]
      readonly id: number | undefined
    }
  | { readonly type: typeof CONNECT_ERROR; readonly nsp: string; readonly data: unknown }

/** A packet, and the number of attachments that follow it. */
export interface Decoded {
  readonly packet: Packet
  readonly attachments: number
}

/** Names that clients or servers use for events of their own. Other events must not have them. */
const RESERVED: ReadonlySet<unknown> = new Set([
  'connect',
  'connect_error',
  'disconnect',
  'disconnecting',
  'newListener',
  'removeListener',
])

const SLASH = 47
const COMMA = ','
const DASH = 45
const ZERO = 48
const NINE = 57
const BRACKET = 91
const BRACE = 123
const QUOTE = 34

/** Whether an event may have this name. */
export function isEventName(name: unknown): name is string {
  return typeof name === 'number' || (typeof name === 'string' && !RESERVED.has(name))
}

/**
 * Encodes an event or an acknowledgement, with `prefix` in front. Returns the text, and its attachments if there are any.
 */
export function encodeArguments(
  type: typeof EVENT | typeof ACK,
  nsp: string,
  id: number | undefined,
  data: readonly unknown[],
  prefix = '',
): string | [string, ...Uint8Array[]] {
  const at = nsp === '/' ? '' : `${nsp},`
  const ackId = id ?? ''
  if (!isBinary(data)) return `${prefix}${type}${at}${ackId}${JSON.stringify(data)}`
  const { value, attachments } = takeBinary(data)
  const head = `${prefix}${type + 3}${attachments.length}-${at}${ackId}`
  return [head + JSON.stringify(value), ...attachments]
}

/** Encodes a packet without arguments. */
export function encodeControl(
  type: typeof CONNECT | typeof DISCONNECT | typeof CONNECT_ERROR,
  nsp: string,
  data: unknown,
): string {
  const at = nsp === '/' ? '' : `${nsp},`
  return data === undefined ? `${type}${at}` : `${type}${at}${JSON.stringify(data)}`
}

/** Reads the text of a packet. Returns undefined if it is not valid. Never throws. */
export function decodePacket(text: string): Decoded | undefined {
  const type = text.charCodeAt(0) - ZERO
  if (!(type >= CONNECT && type <= BINARY_ACK)) return undefined
  let at = 1
  let attachments = 0
  if (type >= BINARY_EVENT) {
    at = endOfDigits(text, 1) + 1
    attachments = countIn(text, at)
    if (attachments < 0) return undefined
  }
  let nsp = '/'
  if (text.charCodeAt(at) === SLASH) {
    const comma = text.indexOf(COMMA, at)
    const end = comma === -1 ? text.length : comma
    nsp = text.slice(at, end)
    at = end + 1
  }
  const end = endOfDigits(text, at)
  const id = end === at ? undefined : Number(text.slice(at, end))
  if (id !== undefined && !Number.isSafeInteger(id)) return undefined
  const packet = packetOf(type, nsp, id, text, end)
  return packet && { packet, attachments }
}

/** The number of attachments, which ends with a dash before `at`. Returns -1 if it is not valid. */
function countIn(text: string, at: number): number {
  // At most two digits, so that the number cannot be too large.
  const isNumber = text.charCodeAt(at - 1) === DASH && (at === 3 || at === 4)
  const count = isNumber ? Number(text.slice(1, at - 1)) : -1
  return count <= MAX_ATTACHMENTS ? count : -1
}

function endOfDigits(text: string, start: number): number {
  let end = start
  for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE; code = text.charCodeAt(end)) end++
  return end
}

function packetOf(
  type: number,
  nsp: string,
  id: number | undefined,
  text: string,
  at: number,
): Packet | undefined {
  if (at >= text.length) return withoutData(type, nsp)
  const data = parse(text, at)
  if (data === undefined) return undefined
  if (Array.isArray(data)) return withArguments(type, nsp, id, data)
  if (type === CONNECT && isObject(data)) return { type, nsp, data }
  return type === CONNECT_ERROR ? { type, nsp, data } : undefined
}

function withoutData(type: number, nsp: string): Packet | undefined {
  if (type === DISCONNECT) return { type, nsp }
  return type === CONNECT ? { type, nsp, data: undefined } : undefined
}

function withArguments(
  type: number,
  nsp: string,
  id: number | undefined,
  data: unknown[],
): Packet | undefined {
  if (type === EVENT || type === BINARY_EVENT) {
    return isEventName(data[0]) ? { type: EVENT, nsp, id, data } : undefined
  }
  return type === ACK || type === BINARY_ACK ? { type: ACK, nsp, id, data } : undefined
}

/**
 * Reads the JSON from `at` on: an array, an object or a string. Returns undefined if it is invalid or nested too deeply.
 */
function parse(text: string, at: number): unknown {
  const first = text.charCodeAt(at)
  if (first !== BRACKET && first !== BRACE && first !== QUOTE) return undefined
  try {
    return parseJson(text.slice(at))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Reads the messages of one client. It holds a packet until all attachments have come. Never throws. */
export class Decoder {
  readonly #maxAttachments: number
  #waiting: Decoded | undefined
  #attachments: Uint8Array[] | undefined

  constructor(maxAttachments: number) {
    this.#maxAttachments = maxAttachments
  }

  /**
   * Returns a packet that is now complete. Undefined if attachments are still to come. `invalid` if the message is not
   * valid.
   */
  add(message: string | Uint8Array): Packet | 'invalid' | undefined {
    if (typeof message !== 'string') return this.#addAttachment(message)
    if (this.#waiting !== undefined) return 'invalid'
    const decoded = decodePacket(message)
    if (decoded === undefined || decoded.attachments > this.#maxAttachments) return 'invalid'
    if (decoded.attachments === 0) return decoded.packet
    this.#waiting = decoded
    return undefined
  }

  #addAttachment(bytes: Uint8Array): Packet | 'invalid' | undefined {
    if (this.#waiting === undefined) return 'invalid'
    const { packet, attachments } = this.#waiting
    this.#attachments ??= []
    if (this.#attachments.push(bytes) < attachments) return undefined
    const parts = this.#attachments
    this.#waiting = undefined
    this.#attachments = undefined
    const hasArguments = packet.type === EVENT || packet.type === ACK
    return hasArguments && putBinary(packet.data, parts) ? packet : 'invalid'
  }
}
