import type { Kind, RunInput } from '../agents/contract.ts'
import { discard } from './body.ts'
import type { Call, Caller } from './call.ts'
import type { FollowedOptions, HeaderFields, PlainOptions } from './options.ts'
import { notOurs } from './problem.ts'
import { segment } from './sent.ts'

/** What runs. */
export interface RunTarget {
  readonly kind: Kind
  /** The name under which the service has it. */
  readonly name: string
}

/** How a run is started. */
export type RunStart = FollowedOptions | PlainOptions

/** Asks for the run's record at once (RFC 7240). */
export const RESPOND_ASYNC: HeaderFields = { prefer: 'respond-async' }

/** Characters of a run's id. */
const UUID_LENGTH = 36

/** Milliseconds for which the service is told of a cancel, if it cannot be reached at once. */
const CANCEL_MS = 10_000

/**
 * One run as its client sees it. However often a stored run is asked for, it is one: each request has the same key and the
 * same body, and the headers of the first one.
 */
export interface AskedRun {
  /** Once the service has answered. */
  readonly id: string | undefined
  readonly isFollowed: boolean
  /** Asks for the run, or for the one that there is. */
  post(call: Call, verb: 'run' | 'stream', headers?: HeaderFields): Promise<Response>
  /** Cancels the run on the service, once. A plain run ends with its connection. Never rejects. */
  cancel(): Promise<void>
}

/** Nothing is sent yet. */
export function askRun(
  caller: Caller,
  { kind, name }: RunTarget,
  input: RunInput,
  options: RunStart,
): AskedRun {
  const { sessionId, messageId, userId, history, clientTools, memory } = options
  const isFollowed = options.follow !== false
  // What is undefined is not sent.
  const told = { input, sessionId, messageId, userId, history, clientTools, memory }
  const body = { ...told, background: isFollowed || undefined }
  // 128 random bits; `crypto.randomUUID` is not there on pages without HTTPS.
  const newKey = crypto.getRandomValues(new Uint8Array(16)).join('-')
  const key = { 'idempotency-key': isFollowed ? (options.idempotencyKey ?? newKey) : undefined }
  let fields: Headers | undefined
  let cancelling: Promise<void> | undefined

  async function post(call: Call, verb: 'run' | 'stream', headers: HeaderFields = {}): Promise<Response> {
    fields ??= await call.fields()
    const path = `/${kind}s/${segment(name)}/${verb}`
    const response = await call.send(path, { method: 'POST', body, headers: { ...key, ...headers }, fields })
    const runId = response.headers.get('x-run-id')
    if (runId?.length !== UUID_LENGTH) throw notOurs('no `x-run-id` header', response)
    run.id = runId
    return response
  }

  const stopping = { ...options, signal: undefined, timeoutMs: CANCEL_MS }
  const stop = async (call: Call) => {
    // Where the first answer was lost, asking once more tells which run it is.
    if (!run.id) discard(await post(call, 'run', RESPOND_ASYNC))
    discard(await call.send(`/runs/${run.id}/cancel`, { method: 'POST' }))
  }

  const run: Asking = {
    id: undefined,
    isFollowed,
    post,
    async cancel() {
      // Before there are headers, nothing was sent.
      if (isFollowed && fields) cancelling ??= caller.within(stopping, stop).catch(() => {})
      await cancelling
    },
  }
  return run
}

/** Its id comes with the first answer. */
type Asking = Omit<AskedRun, 'id'> & { id: string | undefined }
