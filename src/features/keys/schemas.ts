/**
 * Schemas of admin requests: bodies and queries.
 *
 * @module
 */

import * as v from 'valibot'
import { count, duration } from '../../base/schemas.ts'
import { list, moment, paging, validate } from '../../base/validation.ts'
import { IDENTITY_ID, IDENTITY_RULE } from '../../http/platform.ts'
import { queryOf } from '../../http/router.ts'
import { readJson, requireJson } from '../../web/body.ts'
import type { KeyChange, KeyQuery, KeyTerms } from './kept.ts'
import { NAMED, SCOPES } from './scopes.ts'

/** Most bytes of a body. */
const MAX_BYTES = 32_768

/** Most milliseconds for which a key stays valid after its rotation: 30 days. */
const MAX_GRACE_MS = 30 * 24 * 60 * 60 * 1000

/** Most scopes of a key. */
const MAX_SCOPES = 100

const textOf = (max: number) =>
  v.pipe(
    v.string('must be text'),
    v.nonEmpty('must not be empty'),
    v.maxLength(max, `must have at most ${max} characters`),
  )

/** The id of an identity. */
const OWNER = v.pipe(v.string('must be text'), v.regex(IDENTITY_ID, IDENTITY_RULE))

const NAME = v.pipe(
  textOf(100),
  v.regex(IDENTITY_ID, 'must have no control characters, and no white space at its ends'),
)

const RATE = v.strictObject({ max: count, windowMs: v.optional(duration, 60_000) })

/** Most roles of a key. */
const MAX_ROLES = 20

const ROLES = list(
  v.pipe(
    v.string('must be text'),
    v.regex(/^[\w:.-]{1,100}$/, 'must be 1 to 100 letters, digits and _ : . -'),
  ),
  MAX_ROLES,
)

const EXPIRES_AT = v.pipe(
  moment,
  v.check(at => at > Date.now(), 'must be in the future'),
)

const RotationSchema: v.GenericSchema<unknown, { readonly graceMs: number }> = v.strictObject({
  graceMs: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be 0 or more'),
      v.maxValue(MAX_GRACE_MS, `must be ${MAX_GRACE_MS} or less`),
    ),
    0,
  ),
})

const QuerySchema: v.GenericSchema<unknown, KeyQuery> = v.object({
  owner: v.optional(textOf(256)),
  ...paging,
})

/** The body of `POST /keys`. */
export interface AskedKey extends KeyTerms {
  readonly owner: string
}

/** Reads admin requests. Throws `invalid_body` and `invalid_query`. */
export interface KeyRequestReader {
  issue(request: Request): Promise<AskedKey>
  change(request: Request): Promise<KeyChange>
  rotation(request: Request): Promise<{ readonly graceMs: number }>
  query(url: string): KeyQuery
}

/** Makes a {@link KeyRequestReader}. `own` are the scopes of the deployment. */
export function createKeyRequestReader(own: readonly string[], maxBodyBytes: number): KeyRequestReader {
  const known = [...SCOPES, 'agent:NAME', 'team:NAME', 'workflow:NAME', ...own].join(', ')
  const isScope = (scope: string) =>
    NAMED.test(scope) || own.includes(scope) || SCOPES.some(each => each === scope)
  const scopes = v.pipe(
    list(v.pipe(v.string('must be text'), v.check(isScope, `must be one of ${known}`)), MAX_SCOPES),
    v.minLength(1, `must have at least one of ${known}`),
  )
  const issue: v.GenericSchema<unknown, AskedKey> = v.strictObject({
    owner: OWNER,
    name: NAME,
    scopes,
    roles: v.optional(ROLES),
    expiresAt: v.optional(EXPIRES_AT),
    rate: v.optional(RATE),
  })
  const change: v.GenericSchema<unknown, KeyChange> = v.strictObject({
    name: v.optional(NAME),
    scopes: v.optional(scopes),
    roles: v.optional(ROLES),
    expiresAt: v.optional(v.nullable(EXPIRES_AT)),
    rate: v.optional(v.nullable(RATE)),
  })
  const maxBytes = Math.min(maxBodyBytes, MAX_BYTES)
  const read = async <T>(schema: v.GenericSchema<unknown, T>, request: Request): Promise<T> => {
    requireJson(request)
    return validate(schema, await readJson(request, maxBytes), 'invalid_body', 'body')
  }
  return {
    issue: request => read(issue, request),
    change: request => read(change, request),
    rotation: request => read(RotationSchema, request),
    query: url => validate(QuerySchema, Object.fromEntries(queryOf(url)), 'invalid_query', 'query'),
  }
}
