/**
 * Reads a run request: the servable, the input and the form of the answer.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { parseRunBody } from '../../runs/input.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { isMultipart } from '../../web/multipart.ts'
import type { Catalog } from '../catalog.ts'
import type { RequestState } from '../context.ts'
import type { Upload, UploadReader } from '../limits/upload.ts'
import { clientOf } from '../security/client-of.ts'
import { idempotencyKeyOf } from './idempotency.ts'
import type { AskedRun } from './start-run.ts'

/** The options of reading run requests. */
export interface RunRequestOptions {
  readonly catalog: Catalog
  /** The most bytes of a JSON body. */
  readonly maxBodyBytes: number
  /** Reads forms with files; undefined if they are off. */
  readonly readUpload: UploadReader | undefined
}

/** A checked request for a run. */
export interface RunRequest extends AskedRun {
  /** Whether to answer at once with the run's record (RFC 7240, `respond-async`). */
  readonly isAsync: boolean
}

/** Reads and checks a request. An unknown name fails before the body is read. */
export async function readRunRequest(
  kind: Kind,
  request: Request,
  state: RequestState,
  options: RunRequestOptions,
): Promise<RunRequest> {
  const target = options.catalog.resolve(kind, state.params.name ?? '')
  const upload = isMultipart(request) ? await readForm(request, state, options) : undefined
  const json = upload === undefined ? await readRunJson(request, options) : upload.body
  const release = upload?.release
  try {
    const { background, ...body } = parseRunBody(json)
    const key = idempotencyKeyOf(request.headers)
    const isAsync = prefersAsync(request.headers)
    return {
      ...body,
      target,
      readsSteered: true,
      isAsync,
      isBackground: isAsync || background === true,
      key: key === undefined ? undefined : { key, body: json },
      release,
    }
  } catch (error) {
    release?.()
    throw error
  }
}

function readRunJson(request: Request, { maxBodyBytes }: RunRequestOptions): Promise<unknown> {
  requireJson(request)
  return readJson(request, maxBodyBytes)
}

/** Reads a form with files as a body. */
function readForm(request: Request, state: RequestState, { readUpload }: RunRequestOptions): Promise<Upload> {
  const uploader = { client: clientOf(state), isIsolated: state.isIsolated }
  if (readUpload !== undefined) return readUpload(request, uploader)
  throw new ServableError(
    'unsupported_media_type',
    'Files are not accepted here (turn on `fileUpload`): the `content-type` must be `application/json`',
  )
}

/** Whether the client wants the answer as server-sent events. */
export function acceptsEvents(headers: Headers): boolean {
  return headers.get('accept')?.includes('text/event-stream') ?? false
}

/** Whether the client wants an answer before the run has ended (RFC 7240, `respond-async`). */
export function prefersAsync(headers: Headers): boolean {
  const prefer = headers.get('prefer')
  return prefer !== null && /(^|,)\s*respond-async\s*(;|,|$)/i.test(prefer)
}
