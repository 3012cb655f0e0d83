/**
 * Schemas of session requests: bodies and queries.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject, paging, searched, validate } from '../../base/validation.ts'
import type { SessionQuery } from '../../runs/sessions/summary.ts'
import { readJson, requireJson } from '../../web/body.ts'
import type { SessionUpdate } from './transactions.ts'
import type { TurnQuery } from './turns.ts'

/** Most characters of a session id, as for runs. */
const MAX_ID = 500

/** Most characters of a title, and bytes of a body. */
const MAX_TITLE = 200
const MAX_BYTES = 16_384

const kind = v.picklist(KINDS, `must be one of ${KINDS.join(', ')}`)

const title = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.nonEmpty('must not be empty'),
  v.maxLength(MAX_TITLE, `must have at most ${MAX_TITLE} characters`),
)

/** The body of `POST /sessions`. */
export interface NewSession {
  readonly kind: Kind
  readonly name: string
  readonly title?: string | undefined
}

/** The body of `POST …/fork`. */
export interface Fork {
  readonly runId?: string | undefined
  readonly title?: string | undefined
}

const body = v.custom<object>(isObject, 'must be a JSON object')

export const NewSessionSchema: v.GenericSchema<unknown, NewSession> = v.pipe(
  body,
  v.object({ kind: v.optional(kind, 'agent'), name: v.string('must be text'), title: v.optional(title) }),
)

const runId = v.pipe(v.string('must be text'), v.maxLength(MAX_ID, 'must be the id of a run'))

export const UpdateSchema: v.GenericSchema<unknown, SessionUpdate> = v.pipe(
  body,
  v.object({ title: v.optional(title), head: v.optional(runId), ifHead: v.optional(runId) }),
  v.check(({ title, head }) => title !== undefined || head !== undefined, 'must have `title` or `head`'),
)

export const ForkSchema: v.GenericSchema<unknown, Fork> = v.pipe(
  body,
  v.object({
    runId: v.optional(runId),
    title: v.optional(title),
  }),
)

/** The query of `GET /sessions`. */
export const SessionQuerySchema: v.GenericSchema<unknown, SessionQuery> = v.object({
  kind: v.optional(kind),
  name: v.optional(v.string()),
  search: searched,
  ...paging,
})

/** The query of `GET …/messages`. */
export const TurnQuerySchema: v.GenericSchema<unknown, TurnQuery> = v.object({
  ...paging,
  branch: v.optional(v.string()),
})

/** Reads and checks a body. Throws `invalid_body` that names every wrong field. */
export async function readBody<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
  maxBytes: number,
): Promise<T> {
  requireJson(request)
  return validate(schema, await readJson(request, Math.min(maxBytes, MAX_BYTES)), 'invalid_body', 'body')
}

/** Checks the id in a path. An id that no session can have is refused without a read. */
export function checkId(id: string): string {
  if (id.length > 0 && id.length <= MAX_ID) return id
  throw new ServableError('session_not_found', 'There is no such session')
}
