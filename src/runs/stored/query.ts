/**
 * The query of a list of runs, as clients send it.
 *
 * @module
 */

import * as v from 'valibot'
import { KINDS } from '../../agents/registry.ts'
import { moment, paging, searched, validate } from '../../base/validation.ts'
import { RATINGS, type Rating } from '../feedback.ts'
import type { RunQuery } from './host.ts'
import { type EventQuery, MAX_EVENTS } from './log-page.ts'
import { RUN_STATUSES } from './record.ts'

const onlyTrue = v.optional(
  v.pipe(
    v.literal('true', 'must be true'),
    v.transform(() => true as const),
  ),
)

/** What `feedback` may be. */
export const FEEDBACK_FILTERS: readonly (Rating | 'any')[] = [...RATINGS, 'any'] as const

const RunQuerySchema: v.GenericSchema<unknown, RunQuery> = v.object({
  kind: v.optional(v.picklist(KINDS, `must be one of ${KINDS.join(', ')}`)),
  name: v.optional(v.string()),
  sessionId: v.optional(v.string()),
  status: v.optional(v.picklist(RUN_STATUSES, `must be one of ${RUN_STATUSES.join(', ')}`)),
  waiting: onlyTrue,
  feedback: v.optional(v.picklist(FEEDBACK_FILTERS, `must be one of ${FEEDBACK_FILTERS.join(', ')}`)),
  search: searched,
  count: onlyTrue,
  since: v.optional(moment),
  until: v.optional(moment),
  ...paging,
})

const EVENT_LIMIT = `must be 1 to ${MAX_EVENTS}`

const EventQuerySchema: v.GenericSchema<unknown, EventQuery> = v.object({
  after: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'must be the id of an event'), v.transform(Number)),
    '0',
  ),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, EVENT_LIMIT),
      v.transform(Number),
      v.minValue(1, EVENT_LIMIT),
      v.maxValue(MAX_EVENTS, EVENT_LIMIT),
    ),
    String(MAX_EVENTS),
  ),
  include: v.optional(v.literal('model_calls', 'must be model_calls')),
})

const RecordQuerySchema: v.GenericSchema<unknown, { include?: 'input' | undefined }> = v.object({
  include: v.optional(v.literal('input', 'must be input')),
})

/** Checks the query of a record. Throws `invalid_query`. */
export function parseRecordQuery(value: unknown): { readonly include?: 'input' | undefined } {
  return validate(RecordQuerySchema, value, 'invalid_query', 'query')
}

/** Checks the query of a page of events. Throws `invalid_query` with every wrong parameter. */
export function parseEventQuery(value: unknown): EventQuery {
  return validate(EventQuerySchema, value, 'invalid_query', 'query')
}

/** Checks the query of a list. Throws `invalid_query` with every wrong parameter. */
export function parseRunQuery(value: unknown): RunQuery {
  return validate(RunQuerySchema, value, 'invalid_query', 'query')
}
