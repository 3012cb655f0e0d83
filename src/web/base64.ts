/** Base64 (RFC 4648, section 4) with what every runtime has. */

/** As many bytes as a call takes arguments without trouble; a multiple of three, so that each is encoded by itself. */
const CHUNK = 8190

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + CHUNK)))
  }
  return text
}

/** The bytes of base64, or undefined where the text is none. */
export function fromBase64(text: string): Uint8Array | undefined {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
