/**
 * Requests of runs as forms that a client shows to a person (MCP, elicitation), and the answers to these forms.
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

/** Whether a client opens addresses for a person (elicitation, URL mode). */
export function opensUrls({ elicitation }: Fields): boolean {
  return isObject(elicitation) && isObject(elicitation.url)
}

/** Whether a client can ask a person all of this. */
export function asksAll(capabilities: Fields, requests: readonly InputRequest[]): boolean {
  return requests.every(({ url }) => (url === undefined ? showsForms : opensUrls)(capabilities))
}

/** The key of a request in its run. It is the same whenever a run asks the same. */
export function keyOf({ id }: InputRequest): string {
  return id.slice(id.indexOf('/') + 1)
}

/** The forms of requests, or their addresses to open, by the keys of the requests. `preceding` is the text of the run so far. */
export function formsOf(requests: readonly InputRequest[], preceding = ''): Readonly<Record<string, object>> {
  return Object.fromEntries(
    requests.map((request, at) => [keyOf(request), formOf(request, at ? '' : preceding)]),
  )
}

/** Most characters of the run's text before a question. */
const MAX_PRECEDING = 2000

function formOf(request: InputRequest, preceding: string): object {
  const { url } = request
  const asked = url === undefined ? questionOf(request) : questionOf(request).replace(`\n\n${url}`, '')
  const message = `${preceding.slice(-MAX_PRECEDING)}${preceding && '\n\n'}${asked}`
  if (url !== undefined) return { method: 'elicitation/create', params: { mode: 'url', message, url } }
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schemaOf(request) },
  }
}

/** The form of an approval. The decision is a field, so a client that accepts forms by itself does not approve. */
const APPROVAL = {
  type: 'object',
  properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: { type: 'string' } },
  required: ['decision'],
}

/** The schema of a request's form. A schema that no form can have becomes one text field. */
function schemaOf({ kind, schema }: InputRequest): object {
  if (kind === 'approval') return APPROVAL
  if (isForm(schema)) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, fieldOf(field)])
    return { ...schema, properties: Object.fromEntries(fields) }
  }
  const answer = fieldOf(schema) ?? { type: 'string' }
  return { type: 'object', properties: { answer }, required: ['answer'] }
}

/** Whether a schema is an object of plain fields. Forms have no nested fields. */
function isForm(schema: unknown): schema is { readonly properties: Fields } {
  const { type, properties } = Object(schema) as Fields
  return type === 'object' && isObject(properties) && Object.values(properties).every(fieldOf)
}

/** The formats that forms have (MCP, elicitation, requested schema). The run itself checks the others. */
const FORMATS = /^(email|uri|date|date-time)$/

/** A field as clients accept it. Undefined if the schema is no field of a form. */
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

/** A choice among texts, with its type, which some libraries leave out. Undefined for any other schema. */
function choiceOf(schema: unknown): Fields | undefined {
  const { type = 'string', enum: texts, anyOf = texts } = Object(schema) as Fields
  const isText = (value: unknown) => typeof (Object(value).const ?? value) === 'string'
  const isChoice = type === 'string' && Array.isArray(anyOf) && anyOf.every(isText)
  return isChoice ? { ...Object(schema), type } : undefined
}

/** The answers that people gave in forms. */
export interface FormAnswers {
  readonly answers: readonly Answer[]
  /** Whether somebody refused to answer. The run cannot continue then. */
  readonly isRefused: boolean
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']

/** The answers to open requests. Answers to anything else are ignored. Throws `invalid_body`. */
export function answersTo(open: readonly InputRequest[], responses: unknown): FormAnswers {
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
  const { id, kind, url } = request
  if (url !== undefined) return { id, value: true }
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
