/**
 * What answers with a run: as a stream, or once it is over.
 *
 * @module
 */

import { errorOf } from '../agents/event.ts'
import type { Core } from '../core/built-in.ts'
import { after, encoded } from '../encoders/encoder.ts'
import { asTold, ServableError } from '../errors.ts'
import { RequestAsker } from '../http/asker.ts'
import type { Endpoint, RequestState } from '../http/context.ts'
import { idempotencyKeyOf } from '../http/idempotency.ts'
import type { AskedRun } from '../http/start-run.ts'
import { readJson, requireJson } from '../web/body.ts'
import { jsonReply, sseReply } from '../web/reply.ts'
import { counted, type SseSource } from '../web/sse.ts'
import type { Answers } from './answers.ts'
import type { Fields } from './body.ts'
import type { Teller, Telling } from './teller.ts'

/** What is known of a run once it has started. */
export type Facts = Omit<Telling, 'model' | 'isJson' | 'isStream'>

/** What a request asks for. */
export interface Plan {
  readonly isStream: boolean
  /** The run that waits for it; undefined where it asks for a new one. */
  readonly answers: Answers | undefined
  asked(): Promise<AskedRun>
  readonly how: Pick<AskedRun, 'isBackground' | 'keepsInput'>
  toTeller(facts: Facts): Teller
}

/** Makes an endpoint. */
export function endpointOf(
  core: Core,
  toPlan: (body: Fields, state: RequestState) => Promise<Plan>,
): Endpoint {
  const { maxBodyBytes, openStream, readKeys, runs } = core
  return async (request, state) => {
    requireJson(request)
    const body = withoutNulls(await readJson(request, maxBodyBytes))
    const { isStream, answers, asked, how, toTeller } = await toPlan(body, state)
    const asker = new RequestAsker(request, state, readKeys)
    const key = idempotencyKeyOf(request.headers)
    const { started } =
      answers === undefined
        ? {
            started: await core.start(
              { ...(await asked()), ...how, ...(key && { key: { key, body } }) },
              asker,
            ),
          }
        : await core.answer({ id: answers.id, answers: answers.answers, ...how }, asker)
    if (started === undefined)
      throw new ServableError('request_changed', 'The run waits for something else by now')
    const { id: runId, run, record } = started
    state.started(runId)
    const teller = toTeller({
      ...{ runId, isStored: run === undefined, maxLength: runs.maxLength },
      createdMs: record === undefined ? Date.now() : Date.parse(record.createdAt),
    })
    const headers = { 'x-run-id': runId }
    if (how.isBackground && !isStream) return jsonReply(teller.answer, { headers })
    const source = await encoded(started, teller, core, request, state)
    if (isStream) return sseReply(counted(after(teller.begin(), source), openStream), headers)
    // A plain run hears of its caller by itself, and not at once: a signal costs more than most answers.
    await readThrough(source, run === undefined ? request.signal : undefined)
    if (teller.end?.type === 'error') throw asTold(errorOf(teller.end))
    return jsonReply(teller.answer, { headers })
  }
}

/** Clients send null for what they leave out. */
function withoutNulls(body: unknown): Fields {
  return Object.fromEntries(Object.entries(Object(body)).filter(([, value]) => value !== null))
}

/** Reads a run to its end: its encoder keeps what it says. Whoever leaves stops reading. */
export function readThrough(source: SseSource, signal?: AbortSignal): Promise<void> {
  const leave = () => source.cancel()
  signal?.addEventListener('abort', leave)
  if (signal?.aborted) leave()
  return new Promise(resolve => {
    source.read(text => {
      if (text === undefined) resolve()
      return text !== undefined
    })
  })
}
