/**
 * Reads a request for a run: which servable, which input, whose, and whether the run is to be stored.
 *
 * @module
 */

import type { Kind, RunOptions } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'
import type { DisconnectPolicy, IdempotencyKey } from '../runs/host.ts'
import { parseRunBody, type RunBody } from '../runs/input.ts'
import type { Target } from '../runs/target.ts'
import { readJson, requireJson } from '../web/body.ts'
import { isMultipart } from '../web/multipart.ts'
import type { Catalog } from './catalog.ts'
import { clientOf } from './client-of.ts'
import type { RequestState } from './context.ts'
import { digestKey, idempotencyKeyOf } from './idempotency.ts'
import type { KeyReader } from './key-headers.ts'
import type { Upload, UploadReader } from './upload.ts'

/** What reading run requests needs. */
export interface RunRequestOptions {
  readonly catalog: Catalog
  readonly readKeys: KeyReader
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
  /** Reads forms with files; undefined where they are off. */
  readonly readUpload: UploadReader | undefined
  readonly disconnect: DisconnectPolicy
  /** Why there can be no stored runs, if so. */
  readonly whyUnstored: (state: RequestState) => string | undefined
}

/** A checked request for a run. */
export interface RunRequest {
  readonly target: Target
  readonly body: RunBody
  readonly options: RunOptions
  readonly owner: string | null
  /** How the run is stored; undefined for a plain run. */
  readonly stored: Stored | undefined
  /** What of the request must stand in no log; of a stored run alone. */
  readonly secrets: readonly string[] | undefined
  /** To be called once the input is not needed any more; undefined where it holds no place. */
  readonly release: (() => void) | undefined
}

/** What makes a run a stored one. */
export interface Stored {
  /** Answer at once with the run's record (RFC 7240, `respond-async`). */
  readonly isAsync: boolean
  readonly isBackground: boolean
  readonly key: IdempotencyKey | undefined
}

/** Reads and checks a request. An unknown name is told before the body is read. */
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
    const body = parseRunBody(json)
    const { owner, traceparent } = state
    const apiKeys = options.readKeys(request.headers, body.apiKey)
    const asked = storedBy(request, state, options, body)
    const stored = asked && (await withDigest(asked, request, { target, json, owner, apiKeys }))
    const run = {
      sessionId: body.sessionId,
      userId: owner ?? body.userId,
      identity: owner ?? undefined,
      apiKeys,
      traceparent,
      requestId: state.requestId,
    }
    const secrets = stored && state.secretsOf(request)
    return { target, body, options: run, owner, stored, secrets, release }
  } catch (error) {
    release?.()
    throw error
  }
}

function readRunJson(request: Request, { maxBodyBytes }: RunRequestOptions): Promise<unknown> {
  requireJson(request)
  return readJson(request, maxBodyBytes)
}

/** The body that a form with files stands for. */
function readForm(request: Request, state: RequestState, { readUpload }: RunRequestOptions): Promise<Upload> {
  const uploader = { client: clientOf(state), isIsolated: state.isIsolated }
  if (readUpload !== undefined) return readUpload(request, uploader)
  throw new ServableError(
    'unsupported_media_type',
    'Files are not taken here (turn on `fileUpload`): the `content-type` must be `application/json`',
  )
}

/** How the run is to be stored, with the idempotency key as it came; undefined for a plain run. */
interface Asked extends Omit<Stored, 'key'> {
  readonly key: string | undefined
}

function storedBy(
  request: Request,
  state: RequestState,
  options: RunRequestOptions,
  body: RunBody,
): Asked | undefined {
  const key = idempotencyKeyOf(request.headers)
  const isAsync = prefersAsync(request.headers)
  const isBackground = isAsync || body.background === true
  if (!isBackground && key === undefined && options.disconnect === 'cancel') return undefined
  const why = options.whyUnstored(state)
  if (why !== undefined) throw new ServableError('runs_not_stored', why)
  return { isAsync, isBackground, key }
}

interface Read {
  readonly target: Target
  readonly json: unknown
  readonly owner: string | null
  readonly apiKeys: Record<string, string> | undefined
}

async function withDigest(
  { key, ...asked }: Asked,
  { headers }: Request,
  { target, json, owner, apiKeys }: Read,
): Promise<Stored> {
  if (key === undefined) return { ...asked, key }
  const credentials = [...credentialsOf(headers), ...Object.entries(apiKeys ?? {}).flat()]
  return { ...asked, key: await digestKey(key, { owner, credentials, target }, json) }
}

function prefersAsync(headers: Headers): boolean {
  const prefer = headers.get('prefer')
  return prefer !== null && /(^|,)\s*respond-async\s*(;|,|$)/i.test(prefer)
}

function credentialsOf(headers: Headers): string[] {
  return ['authorization', 'cookie'].map(name => headers.get(name) ?? '')
}
