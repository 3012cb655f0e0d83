/**
 * Recognizes images, audio, PDF and zip by the first bytes of a file.
 *
 * @module
 */

/** The first bytes of a file: one character per byte, and a question mark for any byte. */
type Signature = string

/** Signatures of ISO base media files (ISO/IEC 14496-12), by their major brands. */
const brands = (...names: readonly string[]): Signature[] => names.map(name => `????ftyp${name}`)

/** Audio in containers that mostly hold video. A file is only taken for it if it is declared as such. */
const MOSTLY_VIDEO: ReadonlySet<string | undefined> = new Set(['audio/mp4', 'audio/webm'])

/** Families of media types with the same first bytes, and their signatures. */
const FAMILIES: readonly [types: readonly string[], signatures: readonly Signature[]][] = [
  [['image/png', 'image/apng'], ['\x89PNG\r\n\x1a\n']],
  [['image/jpeg', 'image/jpg', 'image/pjpeg'], ['\xff\xd8\xff']],
  [['image/gif'], ['GIF87a', 'GIF89a']],
  [['image/webp'], ['RIFF????WEBP']],
  [['image/bmp', 'image/x-ms-bmp'], ['BM']],
  [['image/tiff'], ['II*\0', 'MM\0*']],
  [['image/heic', 'image/heif'], brands('heic', 'heix', 'heim', 'heis', 'hevc', 'mif1', 'msf1')],
  [['image/avif'], brands('avif', 'avis', 'mif1')],
  [['audio/mp4', 'audio/x-m4a', 'audio/m4a'], brands('')],
  [['image/x-icon', 'image/vnd.microsoft.icon'], ['\0\0\x01\0']],
  [['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'], ['RIFF????WAVE']],
  [
    ['audio/mpeg', 'audio/mp3'],
    ['ID3', '\xff\xfb', '\xff\xfa', '\xff\xf3', '\xff\xf2'],
  ],
  [['audio/ogg', 'audio/opus', 'audio/vorbis'], ['OggS']],
  [['audio/flac', 'audio/x-flac'], ['fLaC']],
  [['audio/aac'], ['\xff\xf1', '\xff\xf9']],
  [['audio/webm'], ['\x1a\x45\xdf\xa3']],
  [['application/pdf'], ['%PDF-']],
  [
    ['application/zip', 'application/x-zip-compressed'],
    ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'],
  ],
]

/** Types of files with the first bytes of one of the above but another content: documents in a zip, video in a container. */
const CONTAINED = /^application\/(vnd\.|epub|java-archive|x-|octet-stream)|^video\/|\+zip$/

/** The number of bytes that {@link agrees} needs. */
export const HEAD_BYTES = 16

/** The type of a file by its first bytes; undefined if it is not recognized. */
export function sniff(head: Uint8Array): string | undefined {
  const family = FAMILIES.find(
    ([[first], signatures]) => !MOSTLY_VIDEO.has(first) && isLong(signatures) && begins(signatures, head),
  )
  return family?.[0][0]
}

/** Whether a file can be of its declared type, by its first bytes. */
export function agrees(declared: string, head: Uint8Array): boolean {
  const named = FAMILIES.find(([types]) => types.includes(declared))
  if (named !== undefined) return begins(named[1], head)
  // A PDF that is declared as text is not text.
  return CONTAINED.test(declared) || sniff(head) === undefined
}

function begins(signatures: readonly Signature[], head: Uint8Array): boolean {
  return signatures.some(signature =>
    Array.from(signature).every((byte, index) => byte === '?' || head[index] === byte.charCodeAt(0)),
  )
}

/** Whether the signatures are long enough: two bytes may begin any text. */
function isLong(signatures: readonly Signature[]): boolean {
  return signatures.every(signature => signature.length > 3)
}
