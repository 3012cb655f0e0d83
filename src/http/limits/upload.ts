/**
 * Files with a run (docs/build/uploads.md).
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { withDefaults } from '../../base/defaults.ts'
import { ServableError } from '../../base/errors.ts'
import { toBase64 } from '../../web/base64.ts'
import { parseJson } from '../../web/json.ts'
import { declaredSize, readForm } from '../../web/multipart.ts'
import { agrees, HEAD_BYTES, sniff } from './file-types.ts'
import { UploadSlots } from './upload-slots.ts'

/** The options of file uploads. */
export interface FileUploadOptions {
  /** The most bytes of a file. Default: 52,428,800. */
  readonly maxFileSize?: number
  /** The most files of a request. Default: 10. */
  readonly maxFiles?: number
  /** Media types of files (`image/*` stands for all images). Default: any. */
  readonly allowedMimeTypes?: readonly string[]
  /** The most bytes of a request, with all its files and fields. Default: 67,108,864; on Workers 33,554,432. */
  readonly maxRequestSize?: number
  /** The most milliseconds that a request may take to arrive. Default: 120,000. */
  readonly timeoutMs?: number
  /**
   * The most uploads at a time that are read, or held in memory by a plain run. One client (an identity, else an address) may
   * have as many slots as it leaves free: half, if no other client has any. An upload without a slot waits up to 15 s while
   * others arrive, and is then answered 429. While uploads wait, one with less than 1,024 bytes a second over 10 s is answered
   * 408. Default: 16.
   */
  readonly maxConcurrent?: number
  /**
   * The most bytes of all these uploads together, shared in the same way. A single upload within `maxRequestSize` is always
   * accepted. In memory an upload takes three to six times its size. Default: 268,435,456; on Workers 33,554,432.
   */
  readonly maxTotalSize?: number
}

type Sizes = 'maxRequestSize' | 'maxTotalSize'

/** The options with their defaults. The default sizes depend on the runtime. */
export type UploadSettings = Required<Omit<FileUploadOptions, 'allowedMimeTypes' | Sizes>> &
  Pick<FileUploadOptions, 'allowedMimeTypes' | Sizes>

const DEFAULTS: UploadSettings = {
  maxFileSize: 52_428_800,
  maxFiles: 10,
  timeoutMs: 120_000,
  maxConcurrent: 16,
}

const SIZES: Required<Pick<FileUploadOptions, Sizes>> = {
  maxRequestSize: 64 * 1024 * 1024,
  maxTotalSize: 256 * 1024 * 1024,
}

/** The sizes on Workers, where an isolate has 128 MB in total. */
const ISOLATED_SIZES: typeof SIZES = {
  maxRequestSize: 32 * 1024 * 1024,
  maxTotalSize: 32 * 1024 * 1024,
}

/** The most fields of a form that are not files. */
const MAX_FIELDS = 50

/** Fills in the defaults. */
export function resolveUpload(options: FileUploadOptions): UploadSettings {
  const { allowedMimeTypes } = options
  const types = allowedMimeTypes?.map(type => type.toLowerCase())
  return withDefaults(DEFAULTS, { ...options, ...(types !== undefined && { allowedMimeTypes: types }) })
}

/** A form as the body of a run request. It is held in memory, so its slot is taken until `release` is called. */
export interface Upload {
  readonly body: Record<string, unknown>
  readonly release: () => void
}

/** The client of a form, and whether memory is scarce. */
export interface Uploader {
  readonly client: string
  readonly isIsolated: boolean
}

/** Reads a form. */
export type UploadReader = (request: Request, uploader: Uploader) => Promise<Upload>

/**
 * Makes the reader. Throws `body_too_large`, `invalid_body`, `unsupported_media_type`, `rate_limited` and `upload_too_slow`.
 */
export function createUploadReader(settings: UploadSettings, runTimeoutMs: number): UploadReader {
  const { timeoutMs, maxConcurrent } = settings
  const leaseMs = timeoutMs + runTimeoutMs
  let slots: UploadSlots | undefined
  return async (request, { client, isIsolated }) => {
    const defaults = isIsolated ? ISOLATED_SIZES : SIZES
    const { maxRequestSize = defaults.maxRequestSize, maxTotalSize = defaults.maxTotalSize } = settings
    // A handler is served by one runtime, so the sizes never change.
    slots ??= new UploadSlots({
      maxConcurrent,
      maxTotalSize: Math.max(maxTotalSize, maxRequestSize),
      leaseMs,
    })
    const size = declaredSize(request, maxRequestSize)
    const slot = await slots.take(client, size, () => request.signal)
    const release = () => slot.release()
    try {
      const form = await readForm(request, {
        maxBytes: maxRequestSize,
        maxParts: settings.maxFiles + MAX_FIELDS,
        timeoutMs,
        watcher: slot,
      })
      slot.isArriving = false
      return { body: await bodyOf(form, settings), release }
    } catch (error) {
      release()
      throw error
    }
  }
}

/** The values of a true-or-false field of a form. Other values are refused as in JSON. */
const FLAGS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
])

async function bodyOf(form: FormData, settings: UploadSettings): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  const files: File[] = []
  let fields = 0
  for (const [name, value] of form as unknown as Iterable<[string, string | File]>) {
    if (typeof value !== 'string') files.push(value)
    else if (++fields > MAX_FIELDS) {
      throw new ServableError('invalid_body', `A form may have at most ${MAX_FIELDS} fields`)
    } else Object.defineProperty(body, name, { value, enumerable: true, configurable: true })
  }
  if (files.length > settings.maxFiles) {
    throw new ServableError('invalid_body', `\`files\`: at most ${settings.maxFiles} are allowed`)
  }
  for (const [index, file] of files.entries()) await checkFile(file, `files.${index}`, settings)
  const { input, background, history, clientTools } = body
  return {
    ...body,
    input: files.length === 0 ? input : await buildInput({ input }, files),
    ...(history !== undefined && { history: jsonIn(history) }),
    ...(clientTools !== undefined && { clientTools: jsonIn(clientTools) }),
    ...(background !== undefined && { background: FLAGS.get(background) ?? background }),
  }
}

/** Parses the JSON of a field. Other text stays text, and is refused as such later. */
function jsonIn(text: unknown): unknown {
  try {
    return parseJson(String(text))
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

async function checkFile(
  file: File,
  path: string,
  { maxFileSize, allowedMimeTypes }: UploadSettings,
): Promise<void> {
  if (file.size > maxFileSize) {
    throw new ServableError('body_too_large', `\`${path}\`: a file may have at most ${maxFileSize} bytes`)
  }
  const head = await headOf(file)
  const type = mimeTypeOf(file, head)
  if (allowedMimeTypes !== undefined && !allowedMimeTypes.some(allowed => covers(allowed, type))) {
    throw new ServableError(
      'unsupported_media_type',
      `\`${path}\`: this file type is not accepted: use ${allowedMimeTypes.join(', ')}`,
    )
  }
  if (agrees(type, head)) return
  throw new ServableError(
    'unsupported_media_type',
    `\`${path}\`: the content of the file does not match its type`,
  )
}

function covers(allowed: string, type: string): boolean {
  return (
    allowed === type || allowed === '*/*' || (allowed.endsWith('/*') && type.startsWith(allowed.slice(0, -1)))
  )
}

const UNKNOWN_TYPE = 'application/octet-stream'

/** The declared type without its parameters, or the one recognized from the first bytes if none is declared. */
function mimeTypeOf({ type }: File, head: Uint8Array): string {
  const [name = ''] = type.split(';')
  const declared = /^[\w.+-]+\/[\w.+-]+$/.test(name.trim()) ? name.trim().toLowerCase() : UNKNOWN_TYPE
  return declared === UNKNOWN_TYPE ? (sniff(head) ?? declared) : declared
}

async function headOf(file: File): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
}

/**
 * Makes the input of a run from a form: text alone stays text. Else it consists of parts: the text first, then each file as
 * base64, images and audio as such, others as `file` with its name.
 */
export async function buildInput(
  body: { readonly input?: unknown },
  files: readonly File[],
): Promise<RunInput> {
  const text = typeof body.input === 'string' ? body.input : ''
  if (files.length === 0) return text
  const parts: ContentPart[] = text === '' ? [] : [{ type: 'text', text }]
  for (const file of files) parts.push(await partOf(file))
  return parts
}

async function partOf(file: File): Promise<ContentPart> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const mimeType = mimeTypeOf(file, bytes.subarray(0, HEAD_BYTES))
  const data = toBase64(bytes)
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  // Without folders (RFC 7578, 4.2).
  const filename = file.name.replace(/^.*[/\\]/s, '')
  return { type: 'file', data, mimeType, ...(filename !== '' && { filename }) }
}
