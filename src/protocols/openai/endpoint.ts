/**
 * What answers with a run: as a stream, or once it is over.
 *
 * @module
 */

import { errorOf } from '../../agents/event.ts'
import { asTold, reportError, ServableError } from '../../base/errors.ts'
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
import type { Answers } from './answers.ts'
import type { Fields } from './body.ts'

/** What is known of a run once it has started. */
export type Facts = Omit<AnswerOptions, 'model' | 'isJson' | 'isStream'>

/** What a request asks for. */
export interface Plan {
  /** The run that waits for it; undefined where it asks for a new one. */
  readonly answers: Answers | undefined
  asked(): Promise<AskedRun>
  readonly how: Pick<AskedRun, 'isBackground' | 'keepsInput' | 'metadata'>
  toEncoder(facts: Facts): AnswerEncoder
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
    const reply = await told(started, encoder, core, { request, state, isAtOnce: how.isBackground })
    if (encoder.end?.type === 'error') throw asTold(errorOf(encoder.end))
    return reply
  }
}

/** Members of one body. */
const MAX_MEMBERS = 1000

/** Clients send null for what they leave out. A key of a provider is nothing to keep. Throws `invalid_body`. */
function withoutNulls(body: unknown): Fields {
  if (!isObject(body) || Object.keys(body).length > MAX_MEMBERS)
    throw misfit('body', `must have at most ${MAX_MEMBERS} members`)
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && name !== 'apiKey'),
  )
}

/** Who asks, and whether for the whole as far as it is told. */
interface Asking {
  readonly request: Request
  readonly state: RequestState
  readonly isAtOnce?: boolean | undefined
}

/** Answers with a run: with a stream of it, or with the whole once it is over. Whoever leaves stops reading. */
export async function told(
  started: StartedRun,
  encoder: AnswerEncoder,
  { openStream, production }: Pick<Core, 'openStream' | 'production'>,
  { request, state, isAtOnce = false }: Asking,
): Promise<Reply> {
  const headers = { 'x-run-id': started.id }
  const { isStream } = encoder.about
  const whole = () => jsonReply(encoder.answer, { headers: { ...headers, 'cache-control': 'no-store' } })
  if (isAtOnce && !isStream) return whole()
  const events = started.events()
  const cancel = () => void events.return?.()
  if (!isStream) {
    // A plain run hears of its caller by itself, and later: a signal costs more than most answers.
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
    state.tellThrown('stream.failed', error, request)
    const { code, message } = reportError(error, production, 'internal_error')
    return encoder.encode({ type: 'error', code, error: message })
  }
  return sseReply(counted(pulled({ cancel, next, broken }), openStream), headers)
}
