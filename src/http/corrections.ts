/**
 * Corrections over HTTP: their schemas, and their transactions in the state.
 *
 * @module
 */

import * as v from 'valibot'
import type {
  Case,
  Correction,
  CorrectionInput,
  CorrectionPage,
  CorrectionQuery,
} from '../agents/corrections.ts'
import { isObject, list, paging, validate } from '../base/validation.ts'
import { readPage } from '../runs/stored/page.ts'
import { partitionOf } from '../runs/stored/record.ts'
import type { Reader, Transaction } from '../stores/store.ts'

const text = (max: number) =>
  v.optional(
    v.pipe(
      v.string('must be text'),
      v.nonEmpty('must not be empty: leave it out'),
      v.maxLength(max, `must have at most ${max} characters`),
    ),
  )

/** Any JSON. Required. */
const value = v.unknown()

/** The body of `POST /agents/:name/corrections`. Unknown fields are ignored. */
export const CorrectionSchema: v.GenericSchema<unknown, CorrectionInput> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    input: v.optional(value),
    originalValue: value,
    correctedValue: value,
    field: text(500),
    reason: text(10_000),
    entityKey: text(500),
    runId: text(500),
    sessionId: text(500),
    userId: text(500),
    scope: text(500),
    tags: v.optional(list(v.pipe(v.string(), v.maxLength(100, 'must have at most 100 characters')), 50)),
  }),
)

/** Checks a body. Throws `invalid_body` with every wrong field. */
export function parseCorrection(body: unknown): CorrectionInput {
  return validate(CorrectionSchema, body, 'invalid_body', 'body')
}

const QuerySchema: v.GenericSchema<unknown, Pick<CorrectionQuery, 'cursor' | 'limit'>> = v.object({
  ...paging,
})

/** Checks a list's query. Throws `invalid_query`. */
export function parseCorrectionQuery(query: unknown): Pick<CorrectionQuery, 'cursor' | 'limit'> {
  return validate(QuerySchema, query, 'invalid_query', 'query')
}

/** A correction as a case. Undefined for one without an input. */
export function caseOf({
  input,
  originalValue: output,
  correctedValue: expected,
  reason: note,
  ...more
}: Correction): Case | undefined {
  if (input === undefined) return undefined
  const { id, field, entityKey, tags, runId, sessionId, createdAt } = more
  return { id, input, output, expected, note, field, entityKey, tags, runId, sessionId, createdAt }
}

/** The collection of corrections. */
export const CORRECTIONS = 'correction'

/** The most corrections of one owner. Past it the oldest is deleted. */
const MAX_CORRECTIONS = 1000

/** The most bytes of a correction's body. So all corrections of one owner have about 64 MB at most. */
export const MAX_CORRECTION_BYTES = 65_536

/** Writes a correction. */
export function addCorrection(tx: Transaction, correction: Correction, owner: string | null): void {
  const partition = partitionOf(owner)
  if (tx.count(CORRECTIONS, partition) >= MAX_CORRECTIONS) {
    for (const { id } of tx.oldest(CORRECTIONS, 1, partition)) tx.delete(CORRECTIONS, id)
  }
  const { id, agent, createdAt } = correction
  const [newest] = tx.list(CORRECTIONS, { partition, limit: 1 })
  // The fraction keeps the order of corrections of one millisecond.
  const at = Math.max(Date.parse(createdAt), (newest?.at ?? 0) + 0.001)
  tx.put(CORRECTIONS, { id, partition, at, tags: { agent }, value: correction }, { leaves: 'first' })
}

/** Deletes the corrections of an owner. Returns whether there were any. */
export function forgetCorrections(tx: Transaction, owner: string | null): boolean {
  const documents = tx.list(CORRECTIONS, { partition: partitionOf(owner), limit: MAX_CORRECTIONS })
  for (const { id } of documents) tx.delete(CORRECTIONS, id)
  return documents.length > 0
}

/** Reads a page, newest first. Throws `invalid_query` for an invalid cursor. */
export function listCorrections(tx: Reader, { agent, owner, ...page }: CorrectionQuery): CorrectionPage {
  const filter = { partition: partitionOf(owner), tags: { agent } }
  const { values, next = null } = readPage<Correction>(tx, CORRECTIONS, filter, page)
  return { corrections: values, nextCursor: next }
}
