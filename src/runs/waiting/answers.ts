/**
 * Answers to the requests of a run, as clients send them.
 *
 * @module
 */

import * as v from 'valibot'
import type { Answer } from '../../agents/contract.ts'
import { isObject, list, validate } from '../../base/validation.ts'
import { runBodyFields, shortText } from '../input.ts'

/** The most answers of one body: as many as a run may have requests. */
const MAX_ANSWERS = 100

const BY_KIND = ['decision', 'value', 'result'] as const

/** One answer: a decision, a value or a result. Only `editedArgs` may change what was requested. */
export const AnswerSchema: v.GenericSchema<unknown, Answer> = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.nonEmpty('must be the id of a request'), v.maxLength(2000)),
    digest: shortText('digest'),
    decision: v.optional(v.picklist(['approve', 'deny'], 'must be `approve` or `deny`')),
    reason: v.optional(v.pipe(v.string(), v.maxLength(10_000, 'must have at most 10000 characters'))),
    editedArgs: v.optional(v.unknown()),
    value: v.optional(v.unknown()),
    result: v.optional(v.unknown()),
    args: v.optional(v.never('must be left out: what was asked is what runs')),
  }),
  v.check(
    answer => BY_KIND.filter(name => name in answer).length === 1,
    'must have one of `decision`, `value` and `result`',
  ),
  // The check has made sure that it is one of the three.
  v.transform(answer => answer as unknown as Answer),
)

/** A checked body of answers. */
export interface AnswersBody {
  answers: Answer[]
  apiKey?: string | undefined
  /** The run that goes on outlives its client. */
  background?: boolean | undefined
}

/** The answers of a body, in each transport. */
export const AnswersSchema: v.GenericSchema<unknown, Answer[]> = v.pipe(
  list(AnswerSchema, MAX_ANSWERS),
  v.nonEmpty('must have at least one answer'),
)

/** The fields of a body of answers, for other bodies that have answers. */
export const answersBodyFields: Pick<typeof runBodyFields, 'apiKey' | 'background'> & {
  readonly answers: typeof AnswersSchema
} = {
  answers: AnswersSchema,
  apiKey: runBodyFields.apiKey,
  background: runBodyFields.background,
}

/** The body of `POST /runs/:id/answers`. */
export const AnswersBodySchema: v.GenericSchema<unknown, AnswersBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object(answersBodyFields),
)

/** Checks a body of answers. Throws `invalid_body` with every wrong field. */
export function parseAnswers(value: unknown): AnswersBody {
  return validate(AnswersBodySchema, value, 'invalid_body', 'body')
}
