/**
 * The endpoints that answer with a run: as a stream, or as a whole once the run is over.
 *
 * @module
 */

import {
  type AskedRun,
  type Caller,
  type Context,
  callerOf,
  type PluginCore,
  type PluginRoute,
  ServableError,
  type StartedRun,
} from '../../core-entry.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { jsonReply, type Reply, type ReplyHeaders } from '../../web/reply.ts'
import { asLogged, errorOf, idempotencyKeyOf, ignoring, isObject, misfit } from '../encoders/index.ts'
import type { AnswerEncoder, AnswerOptions } from './answer-encoder.ts'
import type { RunAnswers } from './answers.ts'
import type { Fields } from './body.ts'

/** The facts of a run that has started. */
export type StartedRunFacts = Omit<AnswerOptions, 'model' | 'isJson' | 'isStream'>

/** The run that a request asks for. */
export interface Plan {
  /** The answers to a waiting run. Undefined if the request asks for a new run. */
  readonly answers: RunAnswers | undefined
  /** Whether the new run starts if the run does not wait for the answers any more. Default: no. */
  readonly mayStart?: boolean
  /** Returns the new run to start. */
  asked(): Promise<AskedRun>
  readonly how: Pick<AskedRun, 'isBackground' | 'keepsInput' | 'leavesNothing' | 'metadata'>
  toEncoder(facts: StartedRunFacts): AnswerEncoder
}

/** Makes an endpoint. */
export function endpointOf(
  core: PluginCore,
  toPlan: (body: Fields, caller: Caller, context: Context) => Promise<Plan>,
  headersOf?: (context: Context) => ReplyHeaders,
): PluginRoute['endpoint'] {
  return async (request, context) => {
    const body = await readBody(request, core)
    const caller = callerOf(core, request, context)
    const { answers, mayStart = false, asked, how, toEncoder } = await toPlan(body, caller, context)
    const key = idempotencyKeyOf(request.headers)
    const answering = answers && caller.runs.answer({ ...answers, ...how })
    const answered = await (mayStart ? answering?.catch(ignoring(...NOT_WAITING)) : answering)
    const { started } = answered ?? {
      started: await caller.start({ ...(await asked()), ...how, ...(key && { key: { key, body } }) }),
    }
    if (started === undefined) throw new ServableError('request_changed', 'The run waits for more')
    const { id: runId, record } = started
    const encoder = toEncoder({
      ...{ runId, isStored: record !== undefined, maxLength: core.maxLength },
      createdMs: record === undefined ? Date.now() : Date.parse(record.createdAt),
    })
    const headers = headersOf?.(context)
    const reply = await replyWith(started, encoder, { caller, request, headers, isAtOnce: how.isBackground })
    if (encoder.end?.type === 'error') throw asLogged(errorOf(encoder.end))
    return reply
  }
}

/** The codes of answers for which nothing waits. */
const NOT_WAITING = ['already_answered', 'run_ended', 'approval_expired', 'request_not_found'] as const

/** Most members of one body. */
const MAX_MEMBERS = 1000

/** Reads a body, as `withoutNulls` gives it. Throws `unsupported_media_type`, `invalid_body` and `body_too_large`. */
export async function readBody(
  request: Request,
  { maxBodyBytes }: Pick<PluginCore, 'maxBodyBytes'>,
): Promise<Fields> {
  requireJson(request)
  return withoutNulls(await readJson(request, maxBodyBytes))
}

/**
 * The body without nulls, which clients send for fields that they leave out, and without a provider's key, which must not be
 * stored. Throws `invalid_body`.
 */
function withoutNulls(body: unknown): Fields {
  if (!isObject(body) || Object.keys(body).length > MAX_MEMBERS)
    throw misfit('body', `must have at most ${MAX_MEMBERS} members`)
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && name !== 'apiKey'),
  )
}

/** The request to reply to. `isAtOnce`: whether to reply with the answer so far. */
interface ReplyRequest {
  readonly caller: Caller
  readonly request: Request
  readonly headers?: ReplyHeaders | undefined
  readonly isAtOnce?: boolean | undefined
}

/** Replies with a stream of a run, or with the whole answer once the run is over. Stops reading when the client disconnects. */
export async function replyWith(
  started: StartedRun,
  encoder: AnswerEncoder,
  { caller, request, headers: more, isAtOnce = false }: ReplyRequest,
): Promise<Reply> {
  const headers = { 'x-run-id': started.id, ...more }
  const { isStream } = encoder.about
  const whole = () => jsonReply(encoder.answer, { headers: { ...headers, 'cache-control': 'no-store' } })
  if (isAtOnce && !isStream) return whole()
  if (isStream) {
    const { keepAlive } = encoder
    return caller.stream(started, encoder, {
      head: encoder.begin(),
      headers,
      ...(keepAlive && { keepAlive }),
    })
  }
  const events = started.events()
  // A run that is not stored watches its caller by itself. Listening here too would cost more than most answers.
  if (started.record !== undefined) {
    const cancel = () => void events.return?.()
    const { signal } = request
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
  }
  for await (const event of events) encoder.encode(event)
  return whole()
}
