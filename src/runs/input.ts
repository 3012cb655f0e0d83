/**
 * The input of a run, as clients send it.
 *
 * @module
 */

import * as v from 'valibot'
import type { ContentPart, RunInput } from '../agents/contract.ts'
import { isObject, list, validate } from '../validation.ts'

const data = v.pipe(v.string(), v.nonEmpty('must be base64 or a URL, not empty'))
const mimeType = v.pipe(
  v.string(),
  v.regex(/^[\w.+-]+\/[\w.+*-]+$/, 'must be a media type such as image/png'),
)

/** A piece of a multi-modal message. */
export const ContentPartSchema: v.GenericSchema<unknown, ContentPart> = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('data'), data: v.unknown() }),
  v.object({ type: v.picklist(['image', 'audio']), data, mimeType: v.optional(mimeType) }),
  v.object({ type: v.literal('file'), data, mimeType, filename: v.optional(v.string()) }),
])

/** Parts of one message. */
export const MAX_PARTS = 1000

/** The message of a run: text that is not empty, or 1 to 1,000 parts. */
export const RunInputSchema: v.GenericSchema<unknown, RunInput> = v.union(
  [
    v.pipe(v.string(), v.nonEmpty('must not be empty')),
    v.pipe(list(ContentPartSchema, MAX_PARTS), v.nonEmpty('must have at least one part')),
  ],
  'must be text or an array of content parts',
)

type MaybeText = v.OptionalSchema<v.GenericSchema<string>, undefined>

/** Text that is not empty and not long, or nothing: an id, a key. */
export const shortText = (what: string): MaybeText =>
  v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(`must not be empty: leave \`${what}\` out`),
      v.maxLength(500, 'must have at most 500 characters'),
    ),
  )

/** A checked run body. */
export interface RunBody {
  input: RunInput
  sessionId?: string | undefined
  /** The client's own id of its message. */
  messageId?: string | undefined
  userId?: string | undefined
  apiKey?: string | undefined
  /** The run outlives its client. */
  background?: boolean | undefined
}

/** The fields of a run's body, for whatever else asks for a run. */
export const runBodyFields: {
  readonly input: v.GenericSchema<unknown, RunInput>
  readonly sessionId: MaybeText
  readonly messageId: MaybeText
  readonly userId: MaybeText
  readonly apiKey: MaybeText
  readonly background: v.OptionalSchema<v.GenericSchema<boolean>, undefined>
} = {
  input: RunInputSchema,
  sessionId: shortText('sessionId'),
  messageId: shortText('messageId'),
  userId: shortText('userId'),
  apiKey: shortText('apiKey'),
  background: v.optional(v.boolean('must be true or false')),
}

/** The body of a run request. Fields that it does not know are ignored. */
export const RunBodySchema: v.GenericSchema<unknown, RunBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object(runBodyFields),
)

/** Checks the body of a run request; throws `invalid_body` that names every wrong field. */
export function parseRunBody(value: unknown): RunBody {
  return validate(RunBodySchema, value, 'invalid_body', 'body')
}
