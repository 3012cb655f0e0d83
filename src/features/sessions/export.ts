/**
 * `GET /sessions/export`: the turns of the caller's sessions with their feedback, as JSON lines for evaluations.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import { validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { storedFeedbackOf } from '../../runs/feedback.ts'
import { sessionAddressOf } from '../../runs/sessions/session-storage.ts'
import type { SessionSummary } from '../../runs/sessions/summary.ts'
import { LINES_HEADERS, streamOfLines } from '../../web/json-lines.ts'
import { FEEDBACK_SERVICE, FEEDBACK_TRANSACTIONS, type TurnsWithFeedback } from './feedback-transactions.ts'
import { keyOf, type SessionService } from './service.ts'

/** Sessions to read at once. */
const PAGE = 20

interface ExportQuery {
  readonly kind?: Kind | undefined
  readonly name?: string | undefined
  /** Only turns that began at this time or later, in milliseconds since 1970. */
  readonly since: number
}

const QuerySchema: v.GenericSchema<unknown, ExportQuery> = v.object({
  kind: v.optional(v.picklist(KINDS, `must be one of ${KINDS.join(', ')}`)),
  name: v.optional(v.string()),
  since: v.optional(
    v.pipe(
      v.string(),
      v.transform(text => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text))),
      v.number('must be a time in ISO 8601, or milliseconds since 1970'),
    ),
    '0',
  ),
})

/** Makes the route. */
export function exportRoutes(
  { prefix, callTransactions, checkShared }: Pick<Core, 'prefix' | 'callTransactions' | 'checkShared'>,
  sessions: SessionService,
): Route[] {
  const check = checkShared('Sessions need')
  const calls = callTransactions(FEEDBACK_SERVICE, FEEDBACK_TRANSACTIONS)

  /** The turns of a session, newest first. */
  async function* linesOf(identity: string, session: SessionSummary, since: number): AsyncGenerator<string> {
    const { id, kind, name } = session
    const key = keyOf(identity, kind, name, id)
    let before: number | undefined
    do {
      const { turns, next }: TurnsWithFeedback = JSON.parse(
        await calls.turns(sessionAddressOf(key), key, before),
      )
      const lines = turns.flatMap(({ feedback, ...turn }) => {
        if (turn.at < since) return []
        return [
          `${JSON.stringify({ sessionId: id, ...turn, feedback: feedback && storedFeedbackOf(feedback) })}\n`,
        ]
      })
      if (lines.length > 0) yield lines.join('')
      before = lines.length < turns.length ? undefined : next
    } while (before !== undefined)
  }

  /** All requested turns, those of the most recently used session first. */
  async function* all(identity: string, { since, ...query }: ExportQuery): AsyncGenerator<string> {
    let cursor: string | undefined
    do {
      const page = await sessions.list(identity, { ...query, cursor, limit: PAGE })
      for (const session of page.sessions) {
        if (Date.parse(session.updatedAt) >= since) yield* linesOf(identity, session, since)
      }
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  return [
    {
      method: 'GET',
      path: joinPath(prefix, 'sessions/export'),
      part: 'router',
      endpoint(request, state) {
        check(state)
        const { owner } = state
        if (owner === null) throw new ServableError('not_found', 'Exporting sessions needs an identity')
        const query = Object.fromEntries(queryOf(request.url))
        const lines = all(owner, validate(QuerySchema, query, 'invalid_query', 'query'))
        const onError = (error: unknown) => state.logThrown('stream.failed', error, request)
        return new Response(streamOfLines(lines, onError), { headers: LINES_HEADERS })
      },
    },
  ]
}
