/**
 * The endpoints that answer with a run: as a stream, or as a whole once the run is over.
 *
 * @module
 */

import { errorOf } from '../../agents/event.ts'
import { asLogged, reportError, ServableError } from '../../base/errors.ts'
import { isObject, misfit } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, RequestState } from '../../http/context.ts'
import { idempotencyKeyOf } from '../../http/runs/idempotency.ts'
import type { AskedRun, StartedRun } from '../../http/runs/start-run.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { jsonReply, type Reply, sseReply } from '../../web/reply.ts'
import { counted, pulled } from '../../web/sse.ts'
import type { AnswerEncoder, AnswerOptions } from './answer-encoder.ts'
import type { RunAnswers } from './answers.ts'
import type { Fields } from './body.ts'

/** The facts of a run that has started. */
export type StartedRunFacts = Omit<AnswerOptions, 'model' | 'isJson' | 'isStream'>

/** The run that a request asks for. */
export interface Plan {
  /** The answers to a waiting run. Undefined if the request asks for a new run. */
  readonly answers: RunAnswers | undefined
  /** Returns the new run to start. */
  asked(): Promise<AskedRun>
  readonly how: Pick<AskedRun, 'isBackground' | 'keepsInput' | 'leavesNothing' | 'metadata'>
  toEncoder(facts: StartedRunFacts): AnswerEncoder
}

/** Makes an endpoint. */
export function endpointOf(
  core: Core,
  toPlan: (body: Fields, state: RequestState) => Promise<Plan>,
): Endpoint {
  return async (request, state) => {
    requireJson(request)
    const body = withoutNulls(await readJson(request, core.maxBodyBytes))
    const { answers, asked, how, toEncoder } = await toPlan(body, state)
    const asker = new RequestAsker(request, state, core.readKeys)
    const key = idempotencyKeyOf(request.headers)
    const { started } =
      answers === undefined
        ? {
            started: await core.start(
              { ...(await asked()), ...how, ...(key && { key: { key, body } }) },
              asker,
            ),
          }
        : await core.answer({ ...answers, ...how }, asker)
    if (started === undefined) throw new ServableError('request_changed', 'The run waits for more')
    const { id: runId, run, record } = started
    state.started(runId)
    const encoder = toEncoder({
      ...{ runId, isStored: run === undefined, maxLength: core.runs.maxLength },
      createdMs: record === undefined ? Date.now() : Date.parse(record.createdAt),
    })
    const reply = await replyWith(started, encoder, core, { request, state, isAtOnce: how.isBackground })
    if (encoder.end?.type === 'error') throw asLogged(errorOf(encoder.end))
    return reply
  }
}

/** Most members of one body. */
const MAX_MEMBERS = 1000

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
  readonly request: Request
  readonly state: RequestState
  readonly isAtOnce?: boolean | undefined
}

/** Replies with a stream of a run, or with the whole answer once the run is over. Stops reading when the client disconnects. */
export async function replyWith(
  started: StartedRun,
  encoder: AnswerEncoder,
  { openStream, production }: Pick<Core, 'openStream' | 'production'>,
  { request, state, isAtOnce = false }: ReplyRequest,
): Promise<Reply> {
  const headers = { 'x-run-id': started.id }
  const { isStream } = encoder.about
  const whole = () => jsonReply(encoder.answer, { headers: { ...headers, 'cache-control': 'no-store' } })
  if (isAtOnce && !isStream) return whole()
  const events = started.events()
  const cancel = () => void events.return?.()
  if (!isStream) {
    // A run that is not stored watches its caller by itself. Listening here too would cost more than most answers.
    if (started.run === undefined) {
      const { signal } = request
      signal.addEventListener('abort', cancel)
      if (signal.aborted) cancel()
    }
    for await (const event of events) encoder.encode(event)
    return whole()
  }
  let text = encoder.begin()
  const next = async () => {
    while (text === '') {
      const { value } = await events.next()
      if (value === undefined) return undefined
      text = encoder.encode(value)
    }
    const fresh = text
    text = ''
    return fresh
  }
  const broken = (error: unknown) => {
    state.logThrown('stream.failed', error, request)
    const { code, message } = reportError(error, production, 'internal_error')
    return encoder.encode({ type: 'error', code, error: message })
  }
  return sseReply(counted(pulled({ cancel, next, broken }), openStream), headers)
}
