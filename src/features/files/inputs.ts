/**
 * Inputs of runs as they are stored: with addresses in the place of data, and with data again.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { HEAD_BYTES, sniff } from '../../http/limits/file-types.ts'
import type { FileOwner } from '../../runs/files.ts'
import { toBase64 } from '../../web/base64.ts'
import { INPUT_SPOT, placeOf } from './address.ts'
import { joined } from './bytes.ts'
import { contentOf, type FilePart, fileNameOf, isFilePart, mediaTypeOf } from './content.ts'
import type { FileBytes } from './store.ts'
import type { Standing, Storing } from './storing.ts'

/** Who refers to an input. */
export type Referrer = Pick<Standing, 'refId' | 'session'>

/** Stores the files of an input for each who refers to it. */
export async function withAddresses(
  files: Storing,
  run: FileOwner,
  input: RunInput,
  referrers: readonly Referrer[],
): Promise<RunInput> {
  if (typeof input === 'string') return input
  const parts: ContentPart[] = []
  for (const [index, part] of input.entries()) parts.push(await stored(files, run, part, index, referrers))
  return parts
}

async function stored(
  files: Storing,
  run: FileOwner,
  part: ContentPart,
  index: number,
  referrers: readonly Referrer[],
): Promise<ContentPart> {
  if (!isFilePart(part) || part.data.length <= files.settings.inlineBytes) return part
  const content = await contentOf(part)
  if (content === undefined || content.bytes.length <= files.settings.inlineBytes) return part
  const { bytes, mimeType } = content
  const told = {
    mimeType: mediaTypeOf(mimeType ?? sniff(bytes.subarray(0, HEAD_BYTES))),
    filename: fileNameOf(part.type === 'file' ? part.filename : undefined),
  }
  const place = placeOf(INPUT_SPOT.key, index)
  for (const referrer of referrers) await files.store({ ...run, ...referrer, place }, bytes, told)
  const data = files.addressOf(run.runId, INPUT_SPOT, index)
  return { ...part, ...(mimeType !== undefined && { mimeType }), data } as FilePart
}

/** Reads a file of an input; undefined where it is gone. */
export type ReadFile = (place: string) => Promise<FileBytes | undefined>

/** Puts data in the place of the addresses that this service gave. */
export async function withData(
  files: Storing,
  { runId }: FileOwner,
  input: RunInput,
  read: ReadFile,
): Promise<RunInput> {
  if (typeof input === 'string') return input
  const parts: ContentPart[] = []
  for (const [index, part] of input.entries()) {
    const isOurs = isFilePart(part) && part.data === files.addressOf(runId, INPUT_SPOT, index)
    const bytes = isOurs ? await read(placeOf(INPUT_SPOT.key, index)) : undefined
    parts.push(bytes === undefined ? part : ({ ...part, data: toBase64(await all(bytes)) } as FilePart))
  }
  return parts
}

async function all(bytes: FileBytes): Promise<Uint8Array> {
  if (bytes instanceof Uint8Array) return bytes
  const chunks: Uint8Array[] = []
  const reader = bytes.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value)
  return joined(chunks)
}
