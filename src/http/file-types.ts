/**
 * What a file is by its first bytes, as far as that can be told: images, audio, PDF and zip.
 *
 * @module
 */

/** Bytes at a place; undefined stands for any. */
type Signature = readonly [offset: number, bytes: readonly (number | undefined)[]]

const ascii = (text: string): number[] => Array.from(text, character => character.charCodeAt(0))

/** What an ISO base media file (ISO/IEC 14496-12) is, by its major brand. */
const brands = (...names: readonly string[]): Signature[] => names.map(name => [4, ascii(`ftyp${name}`)])

/** Sound in containers that mostly hold video: nothing is taken for it that does not say so. */
const MOSTLY_VIDEO: ReadonlySet<string | undefined> = new Set(['audio/mp4', 'audio/webm'])

/** Families of media types that begin alike, and how: one of the signatures. */
const FAMILIES: readonly [types: readonly string[], signatures: readonly Signature[]][] = [
  [['image/png', 'image/apng'], [[0, [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a]]]],
  [['image/jpeg', 'image/jpg', 'image/pjpeg'], [[0, [0xff, 0xd8, 0xff]]]],
  [
    ['image/gif'],
    [
      [0, ascii('GIF87a')],
      [0, ascii('GIF89a')],
    ],
  ],
  [['image/webp'], [[0, [...ascii('RIFF'), undefined, undefined, undefined, undefined, ...ascii('WEBP')]]]],
  [['image/bmp', 'image/x-ms-bmp'], [[0, ascii('BM')]]],
  [
    ['image/tiff'],
    [
      [0, [...ascii('II'), 0x2a, 0]],
      [0, [...ascii('MM'), 0, 0x2a]],
    ],
  ],
  [['image/heic', 'image/heif'], brands('heic', 'heix', 'heim', 'heis', 'hevc', 'mif1', 'msf1')],
  [['image/avif'], brands('avif', 'avis', 'mif1')],
  [['audio/mp4', 'audio/x-m4a', 'audio/m4a'], [[4, ascii('ftyp')]]],
  [['image/x-icon', 'image/vnd.microsoft.icon'], [[0, [0, 0, 1, 0]]]],
  [
    ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
    [[0, [...ascii('RIFF'), undefined, undefined, undefined, undefined, ...ascii('WAVE')]]],
  ],
  [
    ['audio/mpeg', 'audio/mp3'],
    [
      [0, ascii('ID3')],
      [0, [0xff, 0xfb]],
      [0, [0xff, 0xfa]],
      [0, [0xff, 0xf3]],
      [0, [0xff, 0xf2]],
    ],
  ],
  [['audio/ogg', 'audio/opus', 'audio/vorbis'], [[0, ascii('OggS')]]],
  [['audio/flac', 'audio/x-flac'], [[0, ascii('fLaC')]]],
  [
    ['audio/aac'],
    [
      [0, [0xff, 0xf1]],
      [0, [0xff, 0xf9]],
    ],
  ],
  [['audio/webm'], [[0, [0x1a, 0x45, 0xdf, 0xa3]]]],
  [['application/pdf'], [[0, ascii('%PDF-')]]],
  [
    ['application/zip', 'application/x-zip-compressed'],
    [
      [0, [...ascii('PK'), 3, 4]],
      [0, [...ascii('PK'), 5, 6]],
      [0, [...ascii('PK'), 7, 8]],
    ],
  ],
]

/** Types of files that begin like one of the above and are something else: documents in a zip, video in a container. */
const CONTAINED = /^application\/(vnd\.|epub|java-archive|x-|octet-stream)|^video\/|\+zip$/

/** The bytes that {@link agrees} needs to see. */
export const HEAD_BYTES = 16

/** What a file is by its first bytes, where that is known. */
export function sniff(head: Uint8Array): string | undefined {
  const family = FAMILIES.find(
    ([[first], signatures]) => !MOSTLY_VIDEO.has(first) && isLong(signatures) && begins(signatures, head),
  )
  return family?.[0][0]
}

/** Whether a file is what it is said to be, as far as that can be told from its first bytes. */
export function agrees(declared: string, head: Uint8Array): boolean {
  const named = FAMILIES.find(([types]) => types.includes(declared))
  if (named !== undefined) return begins(named[1], head)
  // A PDF that is said to be text is no text.
  return CONTAINED.test(declared) || sniff(head) === undefined
}

function begins(signatures: readonly Signature[], head: Uint8Array): boolean {
  return signatures.some(([offset, bytes]) =>
    bytes.every((byte, index) => byte === undefined || head[offset + index] === byte),
  )
}

/** Two bytes may begin any text. */
function isLong(signatures: readonly Signature[]): boolean {
  return signatures.every(([, bytes]) => bytes.length > 3)
}
