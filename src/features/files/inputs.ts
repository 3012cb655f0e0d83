/**
 * Converts inputs of runs: replaces data by addresses for storage, and addresses by data again.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { HEAD_BYTES, sniff } from '../../http/limits/file-types.ts'
import type { FileOwner } from '../../runs/files.ts'
import { toBase64 } from '../../web/base64.ts'
import { INPUT_SPOT, partKeyOf } from './address.ts'
import { joined } from './bytes.ts'
import { contentOf, type FilePart, fileNameOf, isFilePart, mediaTypeOf } from './content.ts'
import { type FileBytes, type FilePosition, INLINE_BYTES, type Storing } from './store.ts'

/** What refers to an input. */
export type Referrer = Pick<FilePosition, 'refId' | 'session'>

/** Stores the files of an input, once for each referrer. */
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
  if (!isFilePart(part) || part.data.length <= INLINE_BYTES) return part
  const content = await contentOf(part)
  if (content === undefined || content.bytes.length <= INLINE_BYTES) return part
  const { bytes, mimeType } = content
  const metadata = {
    mimeType: mediaTypeOf(mimeType ?? sniff(bytes.subarray(0, HEAD_BYTES))),
    filename: fileNameOf(part.type === 'file' ? part.filename : undefined),
  }
  const partKey = partKeyOf(INPUT_SPOT.key, index)
  for (const referrer of referrers)
    await files.store({ ...run, ...referrer, place: partKey }, bytes, metadata)
  const data = files.addressOf(run.runId, INPUT_SPOT, index)
  return { ...part, ...(mimeType !== undefined && { mimeType }), data } as FilePart
}

/** Reads a file of an input. Undefined if it is deleted. */
export type ReadFile = (partKey: string) => Promise<FileBytes | undefined>

/** Replaces addresses of this service by data. */
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
    const bytes = isOurs ? await read(partKeyOf(INPUT_SPOT.key, index)) : undefined
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
