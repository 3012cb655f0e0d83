/**
 * `POST` and `GET /runs/:id/feedback`: the caller's feedback on an ended run.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { KINDS } from '../../agents/registry.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { isObject, validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { runIdOf } from '../../http/routes/stored-run-routes.ts'
import { type Feedback, type FeedbackInput, ratingOf, storedFeedbackOf } from '../../runs/feedback.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import { sessionAddressOf } from '../../runs/sessions/session-storage.ts'
import { jsonReply } from '../../web/reply.ts'
import { FEEDBACK_SERVICE, FEEDBACK_TRANSACTIONS } from './feedback-transactions.ts'
import { readBody } from './schemas.ts'
import { keyOf } from './service.ts'

/** Most characters of a text. */
const MAX_TEXT = 4000

const text = v.optional(
  v.pipe(
    v.string('must be text'),
    v.nonEmpty('must not be empty: leave it out'),
    v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
  ),
)

/** The session of a plain run, which has no record that names it. */
const session = {
  sessionId: v.optional(v.pipe(v.string('must be text'), v.nonEmpty(), v.maxLength(500))),
  kind: v.optional(v.picklist(KINDS, `must be one of ${KINDS.join(', ')}`), 'agent'),
  name: v.optional(v.string('must be text')),
}

interface InSession {
  readonly sessionId?: string | undefined
  readonly kind: Kind
  readonly name?: string | undefined
}

const hasSession = ({ sessionId, name }: InSession) => (sessionId === undefined) === (name === undefined)
const BOTH = '`sessionId` and `name` must be given together'

/** The body of `POST /runs/:id/feedback`. */
export const FeedbackSchema: v.GenericSchema<unknown, FeedbackInput & InSession> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    score: v.optional(
      v.pipe(
        v.number('must be a number'),
        v.minValue(-1, 'must be -1 to 1'),
        v.maxValue(1, 'must be -1 to 1'),
      ),
    ),
    text,
    correction: text,
    ...session,
  }),
  v.check(hasSession, BOTH),
  v.check(
    ({ score, text, correction }: FeedbackInput & InSession) => (score ?? text ?? correction) !== undefined,
    '`score`, `text` or `correction` must be given',
  ),
)

const QuerySchema: v.GenericSchema<unknown, InSession & { readonly none?: 'empty' | undefined }> = v.pipe(
  v.object({ ...session, none: v.optional(v.literal('empty', 'must be empty')) }),
  v.check(hasSession, BOTH),
)

/** Makes the routes. */
export function feedbackRoutes({
  prefix,
  host,
  callTransactions,
  maxBodyBytes,
  checkShared,
  runs,
}: Pick<Core, 'prefix' | 'host' | 'callTransactions' | 'maxBodyBytes' | 'checkShared' | 'runs'>): Route[] {
  const check = checkShared('Sessions need')
  const calls = callTransactions(FEEDBACK_SERVICE, FEEDBACK_TRANSACTIONS)
  const route = (method: Route['method'], endpoint: Endpoint): Route => ({
    method,
    path: joinPath(prefix, 'runs/:id/feedback'),
    part: 'runs',
    endpoint(request, state) {
      check(state)
      return endpoint(request, state)
    },
  })
  /** Finds the feedback on the run's turn, or else on the run. */
  const find = async (
    state: RequestState,
    { sessionId, kind, name }: InSession,
    ofTurn: (key: SessionKey, runId: string) => Promise<Feedback | null | undefined>,
    ofRun: (runId: string) => Promise<Feedback | undefined>,
  ): Promise<Feedback | null> => {
    const runId = runIdOf(state)
    const { owner } = state
    if (sessionId !== undefined && name !== undefined) {
      const found = await ofTurn(keyOf(owner, kind, name, sessionId), runId)
      if (found !== undefined) return found
      throw new ServableError('run_not_found', 'There is no such run in the session')
    }
    const record = await host.get(runId, owner)
    if (record.sessionId !== undefined) {
      const key = keyOf(owner, record.kind, record.name, record.sessionId)
      const found = await ofTurn(key, runId)
      if (found !== undefined) return found
    }
    return (await ofRun(runId)) ?? null
  }
  /** Writes the rating into the record of the run, if it has one. */
  const rate = async (runId: string, owner: string | null, given: FeedbackInput) => {
    try {
      await host.rate(runId, owner, ratingOf(given))
    } catch (error) {
      if (!isServableError(error) || error.code !== 'run_not_found') throw error
    }
  }
  const respond = (runId: string | undefined, feedback: Feedback) =>
    jsonReply({ runId, ...storedFeedbackOf(feedback) }, { headers: { 'cache-control': 'no-store' } })
  return [
    route('POST', async (request, state) => {
      const { sessionId, kind, name, ...given } = await readBody(request, FeedbackSchema, maxBodyBytes)
      await checkPermitOf(runs.permit, state, () =>
        sessionId !== undefined && name !== undefined
          ? { kind, name }
          : host.get(runIdOf(state), state.owner),
      )
      const feedback = await find(
        state,
        { sessionId, kind, name },
        async (key, runId) => {
          const said = await calls.say(sessionAddressOf(key), key, runId, given)
          if (said !== undefined) await rate(runId, state.owner, given)
          return said
        },
        runId => host.feedback(runId, state.owner, given),
      )
      return respond(state.runId, feedback as Feedback)
    }),
    route('GET', async (request, state) => {
      const asked = Object.fromEntries(queryOf(request.url))
      const { none, ...query } = validate(QuerySchema, asked, 'invalid_query', 'query')
      const feedback = await find(
        state,
        query,
        (key, runId) => calls.feedback(sessionAddressOf(key), key, runId),
        runId => host.feedback(runId, state.owner),
      )
      if (feedback === null && none === 'empty') return new Response(null, { status: 204 })
      if (feedback === null) throw new ServableError('not_found', 'Nobody has said anything of the run')
      return respond(state.runId, feedback)
    }),
  ]
}
