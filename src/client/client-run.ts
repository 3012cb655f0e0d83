import type { Kind, RunInput } from '../agents/contract.ts'
import { discard } from './body.ts'
import type { ClientCall, ClientCaller } from './call.ts'
import type { FollowedOptions, HeaderFields, PlainOptions } from './options.ts'
import { notOurs } from './problem.ts'
import { segment } from './sent.ts'

/** The agent, team or workflow to run. */
export interface RunTarget {
  readonly kind: Kind
  /** The name on the service. */
  readonly name: string
}

/** The options of a run's start. */
export type RunStart = FollowedOptions | PlainOptions

/** Requests the run's record at once (RFC 7240). */
export const RESPOND_ASYNC: HeaderFields = { prefer: 'respond-async' }

/** Characters of a run's id. */
const UUID_LENGTH = 36

/** Milliseconds for which the client tries to cancel a run on the service. */
const CANCEL_MS = 10_000

/**
 * One run, from the client's side. All requests for a stored run have the same key, the same body and the headers of the
 * first request. So they find the same run.
 */
export interface ClientRun {
  /** Undefined until the service has answered. */
  readonly id: string | undefined
  readonly isFollowed: boolean
  /** Requests the run. The service returns the existing run if it has it. */
  post(call: ClientCall, verb: 'run' | 'stream', headers?: HeaderFields): Promise<Response>
  /** Cancels the run on the service. More calls have no effect. A plain run ends with its connection. Never rejects. */
  cancel(): Promise<void>
}

/** Prepares a run. It sends nothing yet. */
export function prepareRun(
  caller: ClientCaller,
  { kind, name }: RunTarget,
  input: RunInput,
  options: RunStart,
): ClientRun {
  const { sessionId, concurrency, messageId, replaces, branchFrom, ifHead, userId } = options
  const { history, clientTools, memory } = options
  const isFollowed = options.follow !== false
  // JSON leaves undefined members out.
  const fieldsOfRun = {
    input,
    sessionId,
    concurrency,
    messageId,
    replaces,
    branchFrom,
    ifHead,
    userId,
    history,
    clientTools,
    memory,
  }
  const webhook = options.follow === false ? undefined : options.webhook
  const body = { ...fieldsOfRun, webhook, background: isFollowed || undefined }
  // 128 random bits. Pages without HTTPS do not have `crypto.randomUUID`.
  const newKey = crypto.getRandomValues(new Uint8Array(16)).join('-')
  const key = { 'idempotency-key': isFollowed ? (options.idempotencyKey ?? newKey) : undefined }
  let fields: Headers | undefined
  let cancelling: Promise<void> | undefined

  async function post(
    call: ClientCall,
    verb: 'run' | 'stream',
    headers: HeaderFields = {},
  ): Promise<Response> {
    fields ??= await call.fields()
    const path = `/${kind}s/${segment(name)}/${verb}`
    const response = await call.send(path, { method: 'POST', body, headers: { ...key, ...headers }, fields })
    const runId = response.headers.get('x-run-id')
    if (runId?.length !== UUID_LENGTH) throw notOurs('no `x-run-id` header', response)
    run.id = runId
    return response
  }

  const stopping = { ...options, signal: undefined, timeoutMs: CANCEL_MS }
  const stop = async (call: ClientCall) => {
    // If the first answer was lost, another request gives the run's id.
    if (!run.id) discard(await post(call, 'run', RESPOND_ASYNC))
    discard(await call.send(`/runs/${run.id}/cancel`, { method: 'POST' }))
  }

  const run: MutableRun = {
    id: undefined,
    isFollowed,
    post,
    async cancel() {
      // Without headers, nothing was sent.
      if (isFollowed && fields) cancelling ??= caller.within(stopping, stop).catch(() => {})
      await cancelling
    },
  }
  return run
}

/** The run with an id that the first answer sets. */
type MutableRun = Omit<ClientRun, 'id'> & { id: string | undefined }
