/**
 * The text of a key: `sk_servable_ID_SECRET`, followed by a checksum of six characters. It has only letters, digits and `_`, so a
 * double click selects it. Secret scanners recognize it by its prefix, and the checksum distinguishes keys from similar text.
 *
 * @module
 */

const PREFIX = 'sk_servable'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const ID_LENGTH = 16

/** 43 characters of 62 are more than 256 bits. */
const SECRET_LENGTH = 43

const CHECKSUM_LENGTH = 6

const PATTERN = new RegExp(
  `^(${PREFIX}_([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

/** Makes the id of a key. It is public. */
export function createId(): string {
  return randomText(ID_LENGTH)
}

/** Makes the text of a key with that id, with a new secret. */
export function createKey(id: string): string {
  const body = `${PREFIX}_${id}_${randomText(SECRET_LENGTH)}`
  return body + checksumOf(body)
}

/** Whether the text has the prefix of keys. */
export function looksLikeKey(text: string): boolean {
  return text.startsWith(`${PREFIX}_`)
}

/** The id in the text of a key. Undefined for text that no service has issued, by its form and its checksum. */
export function idOf(text: string): string | undefined {
  const [, body, id, checksum] = PATTERN.exec(text) ?? []
  return body !== undefined && checksumOf(body) === checksum ? id : undefined
}

/** Whether a text may be the id of a key. */
export function isId(text: string): boolean {
  return text.length === ID_LENGTH && /^[0-9A-Za-z]+$/.test(text)
}

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is 4 × 62: with larger bytes, some characters would be more frequent.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return text
}

/** The CRC-32 of an ASCII text (ISO 3309), in characters of the alphabet. */
function checksumOf(text: string): string {
  let crc = 0xffffffff
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = ~crc >>> 0
  let checksum = ''
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    checksum = `${ALPHABET[rest % ALPHABET.length]}${checksum}`
    rest = Math.floor(rest / ALPHABET.length)
  }
  return checksum
}
