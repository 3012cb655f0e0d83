/**
 * A task whose agent has made requests: how they are asked, and what a message answers.
 *
 * @module
 */

import type { Answer, InputRequest } from '../agents/contract.ts'
import { AnswersSchema } from '../runs/answers.ts'
import { isObject, validate } from '../validation.ts'
import type { Message, Part } from './model.ts'

/** Requests as parts of a message: the questions for people, then the requests as data. */
export function askingParts(requests: readonly InputRequest[]): readonly Part[] {
  return [{ text: requests.map(questionOf).join('\n') }, { data: { requests } }]
}

/** Most characters of arguments in a question. */
const MAX_ARGS = 1000

function questionOf({ kind, message, toolName, args }: InputRequest): string {
  if (message !== undefined) return message
  const json = JSON.stringify(args) ?? ''
  const shown = json.length > MAX_ARGS ? `${json.slice(0, MAX_ARGS)}…` : json
  return `${kind === 'approval' ? 'Approve' : 'Run'} \`${toolName}\`: ${shown}`
}

/**
 * The answers of a message: those of its data parts `{ answers }`, or else its text as the value of the only open question. Text
 * never approves; what it says otherwise answers nothing. Throws `invalid_params`.
 */
export function answersIn({ parts }: Message, open: readonly InputRequest[]): readonly Answer[] {
  const given = parts.flatMap(({ data }) => (isObject(data) && 'answers' in data ? [data.answers] : []))
  if (given.length > 0) {
    return given.flatMap(answers => validate(AnswersSchema, answers, 'invalid_params', 'answers'))
  }
  const text = parts.map(part => part.text ?? '').join('\n')
  const [question, ...others] = open.filter(({ kind }) => kind === 'question')
  const isText = parts.every(part => part.text !== undefined) && text.trim() !== ''
  if (!isText || question === undefined || others.length > 0 || !takesText(question)) return []
  return [{ id: question.id, value: text }]
}

function takesText({ schema }: InputRequest): boolean {
  return schema === undefined || Object(schema).type === 'string'
}
