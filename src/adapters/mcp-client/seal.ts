import { ServableError } from '../../base/errors.ts'
import { fromBase64, toBase64 } from '../../web/base64.ts'

/** Encrypts stored text, if there is a key. */
export interface Seal {
  close(text: string, context: string): Promise<string>
  /** Throws `tool_server_failed` if no key fits. */
  open(text: string, context: string): Promise<string>
}

const MARK = 'aes-gcm:'
const KEY_BYTES = 32
const IV_BYTES = 12

/**
 * AES-256-GCM (NIST SP 800-38D). The first key encrypts, and all keys decrypt. The ciphertext is bound to its `context`, so
 * that it cannot replace another one. Without keys the text is stored as it is. Throws `invalid_options`.
 */
export function createSeal(keys: readonly string[], option: string): Seal {
  const raw = keys.map(key => keyBytes(key, option))
  let imported: Promise<CryptoKey[]> | undefined
  const all = () => {
    imported ??= Promise.all(
      raw.map(bytes => crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])),
    )
    return imported
  }
  return {
    async close(text, context) {
      const [key] = await all()
      if (key === undefined) return text
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const closed = await crypto.subtle.encrypt(parameters(iv, context), key, new TextEncoder().encode(text))
      return `${MARK}${toBase64(iv)}:${toBase64(new Uint8Array(closed))}`
    },
    async open(text, context) {
      if (!text.startsWith(MARK)) return text
      const [iv, closed] = text.slice(MARK.length).split(':').map(fromBase64)
      for (const key of await all()) {
        const opened = await crypto.subtle
          .decrypt(parameters(iv ?? new Uint8Array(), context), key, closed ?? new Uint8Array())
          .catch(() => undefined)
        if (opened !== undefined) return new TextDecoder().decode(opened)
      }
      throw new ServableError(
        'tool_server_failed',
        `The stored tool server is encrypted with a key that is not in \`${option}\``,
      )
    },
  }
}

function parameters(iv: Uint8Array<ArrayBuffer>, context: string): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(context) }
}

function keyBytes(key: string, option: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof key === 'string' ? fromBase64(key) : undefined
  if (bytes?.length === KEY_BYTES) return bytes
  throw new ServableError(
    'invalid_options',
    `\`${option}\` must be ${KEY_BYTES} bytes in base64: make one with \`openssl rand -base64 ${KEY_BYTES}\``,
  )
}
