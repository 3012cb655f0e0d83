/**
 * Requests of agents in tasks: how a message states them, and which answers a message gives.
 *
 * @module
 */

import type { Answer, InputRequest } from '../../../agents/contract.ts'
import { isObject, validate } from '../../../base/validation.ts'
import { AnswersSchema } from '../../../runs/waiting/answers.ts'
import { askedForText, questionOf } from '../../encoders/questions.ts'
import type { Message, Part } from '../model.ts'

/** Requests as parts of a message: the questions as text, or the agent's own `words` instead, then the requests as data. */
export function askingParts(
  requests: readonly InputRequest[],
  words: readonly Part[] = [{ text: requests.map(questionOf).join('\n') }],
): readonly Part[] {
  return [...words, { data: { requests } }]
}

/** A message that has only answers. */
export function messageOf(answers: readonly Answer[], messageId: string = crypto.randomUUID()): Message {
  return { messageId, role: 'user', parts: [{ data: { answers } }] }
}

/**
 * The answers of a message: those of its data parts `{ answers }`, or else its text as the value of the only open question. Text
 * never approves, and never answers several questions. Throws `invalid_params`.
 */
export function answersIn({ parts }: Message, open: readonly InputRequest[]): readonly Answer[] {
  const given = parts.flatMap(({ data }) => (isObject(data) && 'answers' in data ? [data.answers] : []))
  if (given.length > 0) {
    return given.flatMap(answers => validate(AnswersSchema, answers, 'invalid_params', 'answers'))
  }
  const text = parts.map(part => part.text ?? '').join('\n')
  const isText = parts.every(part => part.text !== undefined) && text.trim() !== ''
  const question = isText ? askedForText(open) : undefined
  return question === undefined ? [] : [{ id: question.id, value: text }]
}
