/**
 * The payloads that clients send (specification, "Socket client-to-server events").
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../errors.ts'
import { MAX_PARTS, type RunBody, runBodyFields, shortText } from '../runs/input.ts'
import { isObject, validate } from '../validation.ts'
import { toBase64 } from '../web/base64.ts'

/** The payload of `agent.run`, `team.run` and `workflow.run`. */
export interface RunPayload extends RunBody {
  readonly name: string
  /** A client that repeats an event with the same key gets the same run. */
  readonly idempotencyKey?: string | undefined
}

const object = v.custom<object>(isObject, 'must be an object')
const required = v.pipe(v.string('must be text'), v.nonEmpty('must not be empty'))

const RunSchema: v.GenericSchema<unknown, RunPayload> = v.pipe(
  object,
  v.object({
    ...runBodyFields,
    name: required,
    idempotencyKey: v.optional(v.pipe(required, v.maxLength(255, 'must have at most 255 characters'))),
  }),
)

const CancelSchema: v.GenericSchema<unknown, { runId: string }> = v.pipe(
  object,
  v.object({ runId: required }),
)

const AuthSchema: v.GenericSchema<unknown, { apiKey?: string | undefined }> = v.object({
  apiKey: shortText('apiKey'),
})

/** Checks the payload of a run. Throws `invalid_body` that names every wrong field. */
export function parseRun(payload: unknown): RunPayload {
  return validate(RunSchema, asJson(payload), 'invalid_body', 'payload')
}

/** Checks the payload of `run.cancel`. */
export function parseCancel(payload: unknown): { runId: string } {
  return validate(CancelSchema, payload, 'invalid_body', 'payload')
}

/** Returns the provider key in the `auth` of a handshake (specification, "Authentication"). Throws `invalid_body`. */
export function keyIn(auth: unknown): string | undefined {
  return validate(AuthSchema, auth, 'invalid_body', 'auth').apiKey
}

/** Converts a payload to the form that HTTP has. A part's `data` may be an attachment, which becomes base64. */
export function asJson(payload: unknown): Record<string, unknown> {
  const { input } = Object(payload) as { input?: unknown }
  // A list with too many parts is left as it is. The check refuses it later.
  if (!Array.isArray(input) || input.length > MAX_PARTS) return payload as Record<string, unknown>
  const parts = input.map(part => {
    const { data } = Object(part) as { data?: unknown }
    return data instanceof Uint8Array ? { ...part, data: toBase64(data) } : part
  })
  return { ...Object(payload), input: parts }
}

/** The error for an event that does not exist. */
export function unknownEvent(event: string): ServableError {
  return new ServableError(
    'not_found',
    `There is no event \`${event.slice(0, 100)}\`: use agent.run, team.run, workflow.run or run.cancel`,
  )
}
