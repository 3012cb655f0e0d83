/**
 * What runs ask, as forms that a client shows to a person (MCP, elicitation), and what comes back.
 *
 * @module
 */

import type { Answer, InputRequest } from '../../agents/contract.ts'
import { isObject, misfit } from '../../base/validation.ts'
import { questionOf } from '../encoders/questions.ts'
import type { Fields } from './rpc.ts'

/** Whether a client shows forms. */
export function showsForms({ elicitation }: Fields): boolean {
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation))
}

/** The name of a request in its run: the same whenever a run asks the same. */
export function keyOf({ id }: InputRequest): string {
  return id.slice(id.indexOf('/') + 1)
}

/** What to show, by the names of the requests. `said` is what the run has said before. */
export function formsOf(requests: readonly InputRequest[], said = ''): Readonly<Record<string, object>> {
  return Object.fromEntries(requests.map((request, at) => [keyOf(request), formOf(request, at ? '' : said)]))
}

/** Most characters of what was said before a question. */
const MAX_SAID = 2000

function formOf(request: InputRequest, said: string): object {
  const message = `${said.slice(-MAX_SAID)}${said && '\n\n'}${questionOf(request)}`
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schemaOf(request) },
  }
}

/** The form of an approval: a client that accepts a form by itself has not approved. */
const APPROVAL = {
  type: 'object',
  properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: { type: 'string' } },
  required: ['decision'],
}

/** Whatever is no form is asked for as text. */
function schemaOf({ kind, schema }: InputRequest): object {
  if (kind === 'approval') return APPROVAL
  if (isForm(schema)) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, fieldOf(field)])
    return { ...schema, properties: Object.fromEntries(fields) }
  }
  const answer = fieldOf(schema) ?? { type: 'string' }
  return { type: 'object', properties: { answer }, required: ['answer'] }
}

/** Whether a schema is an object of fields: forms have no deeper ones. */
function isForm(schema: unknown): schema is { readonly properties: Fields } {
  const { type, properties } = Object(schema) as Fields
  return type === 'object' && isObject(properties) && Object.values(properties).every(fieldOf)
}

/** The formats that forms have (MCP, elicitation, requested schema). The run itself checks the others. */
const FORMATS = /^(email|uri|date|date-time)$/

/** A field as clients take it; undefined for what is none. */
function fieldOf(schema: unknown): Fields | undefined {
  const { format, ...field } = Object(schema) as Fields
  const { type, items } = field
  if (type === 'array') {
    const choice = choiceOf(items)
    return choice && { ...field, items: choice }
  }
  const shown = /^(string|number|integer|boolean)$/.test(String(type)) ? field : choiceOf(field)
  return shown && FORMATS.test(String(format)) ? { ...shown, format } : shown
}

/** Texts to choose from: some libraries do not say that they are texts. */
function choiceOf(schema: unknown): Fields | undefined {
  const { type = 'string', enum: texts, anyOf = texts } = Object(schema) as Fields
  const isText = (value: unknown) => typeof (Object(value).const ?? value) === 'string'
  const isChoice = type === 'string' && Array.isArray(anyOf) && anyOf.every(isText)
  return isChoice ? { ...Object(schema), type } : undefined
}

/** What people have answered. */
export interface Given {
  readonly answers: readonly Answer[]
  /** Somebody does not answer: the run cannot go on. */
  readonly isRefused: boolean
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']

/** The answers to what is open. What was not asked is ignored. Throws `invalid_body`. */
export function givenTo(open: readonly InputRequest[], responses: unknown): Given {
  if (!isObject(responses)) throw misfit('inputResponses', 'must be an object')
  const answers: Answer[] = []
  let isRefused = false
  for (const request of open) {
    const key = keyOf(request)
    if (!Object.hasOwn(responses, key)) continue
    const { action, content } = Object(responses[key]) as Fields
    if (!ACTIONS.includes(action))
      throw misfit(`inputResponses.${key}.action`, 'must be `accept`, `decline` or `cancel`')
    if (action === 'accept') answers.push(answerTo(request, content, `inputResponses.${key}.content`))
    else if (action === 'decline' && request.kind === 'approval')
      answers.push({ id: request.id, decision: 'deny' })
    else isRefused = true
  }
  return { answers, isRefused }
}

function answerTo(request: InputRequest, content: unknown, path: string): Answer {
  const { id, kind } = request
  if (kind !== 'approval') return { id, value: valueIn(request, content) }
  const { decision, reason } = Object(content) as Fields
  if (decision !== 'approve' && decision !== 'deny')
    throw misfit(`${path}.decision`, 'must be `approve` or `deny`')
  return { id, decision, ...(typeof reason === 'string' && reason && { reason }) }
}

function valueIn({ schema }: InputRequest, content: unknown): unknown {
  if (isForm(schema)) return content ?? {}
  const { answer } = Object(content) as Fields
  if (schema === undefined || fieldOf(schema) || typeof answer !== 'string') return answer
  try {
    return JSON.parse(answer)
  } catch {
    return answer
  }
}
