/**
 * Attachments of packets (Socket.IO, "Packet encoding"). Before an argument becomes JSON, its bytes are replaced by
 * numbered placeholders. Values of clients are walked without recursion, so their depth does not matter.
 *
 * @module
 */

type Holder = Record<string | number, unknown>

/** Whether a value contains bytes anywhere. The value is about to become JSON. */
export function isBinary(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (isBytes(value)) return true
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isBinary(value[i])) return true
    return false
  }
  const own = asJson(value)
  if (own !== value) return isBinary(own)
  for (const key in value) if (Object.hasOwn(value, key) && isBinary((value as Holder)[key])) return true
  return false
}

/** Returns a copy with placeholders for the bytes, and the bytes. */
export function takeBinary(value: unknown): { readonly value: unknown; readonly attachments: Uint8Array[] } {
  const attachments: Uint8Array[] = []
  return { value: take(value, attachments), attachments }
}

/**
 * Puts attachments in place of their placeholders, in the value itself. Returns false if a placeholder's attachment does
 * not exist or was used before. No encoder repeats an attachment, and repeats could multiply the size of a message.
 */
export function putBinary(root: unknown[], attachments: readonly Uint8Array[]): boolean {
  const left: (Uint8Array | undefined)[] = [...attachments]
  const waiting: Holder[] = [root as unknown as Holder]
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    for (const key of Object.keys(holder)) {
      const value = holder[key]
      if (typeof value !== 'object' || value === null) continue
      if (!('_placeholder' in value) || value._placeholder !== true) waiting.push(value as Holder)
      else if (!put(holder, key, value, left)) return false
    }
  }
  return true
}

function put(holder: Holder, key: string, placeholder: object, left: (Uint8Array | undefined)[]): boolean {
  const num = 'num' in placeholder && typeof placeholder.num === 'number' ? placeholder.num : -1
  const bytes = left[num]
  if (bytes === undefined) return false
  left[num] = undefined
  holder[key] = bytes
  return true
}

function take(value: unknown, attachments: Uint8Array[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isBytes(value)) return { _placeholder: true, num: attachments.push(toBytes(value)) - 1 }
  if (Array.isArray(value)) return value.map(item => take(item, attachments))
  const own = asJson(value)
  if (own !== value) return take(own, attachments)
  const copy: Holder = {}
  for (const [key, item] of Object.entries(value)) copy[key] = take(item, attachments)
  return copy
}

/** The value that `JSON.stringify` would use instead. */
function asJson(value: object): unknown {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
}

function isBytes(value: object): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer
}

function toBytes(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (value instanceof Uint8Array) return value
  return value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}
