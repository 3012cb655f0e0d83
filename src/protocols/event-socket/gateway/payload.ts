/**
 * The payloads that clients send (docs/connect/event-socket.md, "Events of the client").
 *
 * @module
 */

import * as v from 'valibot'
import type { Answer } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import { isObject, validate } from '../../../base/validation.ts'
import { MAX_PARTS, type RunBody, runBodyFields, shortText } from '../../../runs/input.ts'
import { type AnswersBody, answersBodyFields } from '../../../runs/waiting/answers.ts'
import { toBase64 } from '../../../web/base64.ts'

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

/** The payload of `run.answers`. */
export interface AnswersPayload extends AnswersBody {
  readonly runId: string
}

const AnswersSchema: v.GenericSchema<unknown, AnswersPayload> = v.pipe(
  object,
  v.object({ ...answersBodyFields, runId: required }),
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

/** Checks the payload of `run.answers`. A value or result may be an attachment, which agents get as base64. */
export function parseAnswersPayload(payload: unknown): AnswersPayload {
  const { answers, ...rest } = validate(AnswersSchema, payload, 'invalid_body', 'payload')
  return { ...rest, answers: answers.map(withoutBytes) }
}

/** The key in the `auth` of a handshake (docs/connect/event-socket.md, "Decide who may connect"). Throws `invalid_body`. */
export function keyIn(auth: unknown): string | undefined {
  return validate(AuthSchema, auth, 'invalid_body', 'auth').apiKey
}

/** Converts a payload to the form that HTTP has. A part's `data` may be an attachment, which becomes base64. */
function asJson(payload: unknown): Record<string, unknown> {
  const { input, history } = Object(payload) as { input?: unknown; history?: unknown }
  if (!isShort(input) && !isShort(history)) return payload as Record<string, unknown>
  return {
    ...Object(payload),
    ...(isShort(input) && { input: input.map(partAsJson) }),
    ...(isShort(history) && { history: history.map(messageAsJson) }),
  }
}

/** A list of parts or messages. A longer one is refused as it is. */
function isShort(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= MAX_PARTS
}

function messageAsJson(message: unknown): unknown {
  const { content } = Object(message) as { content?: unknown }
  return isShort(content) ? { ...Object(message), content: content.map(partAsJson) } : message
}

function partAsJson(part: unknown): unknown {
  const { data } = Object(part) as { data?: unknown }
  return data instanceof Uint8Array ? { ...Object(part), data: toBase64(data) } : part
}

function withoutBytes(answer: Answer): Answer {
  if ('value' in answer && answer.value instanceof Uint8Array)
    return { ...answer, value: toBase64(answer.value) }
  if ('result' in answer && answer.result instanceof Uint8Array)
    return { ...answer, result: toBase64(answer.result) }
  return answer
}

/** The error for an event that does not exist. */
export function unknownEvent(event: string): ServableError {
  return new ServableError(
    'not_found',
    `There is no event \`${event.slice(0, 100)}\`: use agent.run, team.run, workflow.run, run.answers or run.cancel`,
  )
}

/** The content that an idempotency key identifies: everything except the key and the name. */
export function bodyOf(payload: unknown): object {
  const { name: _name, idempotencyKey: _key, ...body } = asJson(payload)
  return body
}

/** The model provider's key in a payload, or empty text. */
export function keyOf(payload: unknown): string {
  const { apiKey } = Object(payload) as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : ''
}
