/**
 * The requests of runs as text, for clients that read only text.
 *
 * @module
 */

import type { InputRequest } from '../../agents/contract.ts'

/** Most characters of arguments in a question. */
const MAX_ARGS = 1000

/** A request as text for people. */
export function questionOf({ kind, message, toolName, args }: InputRequest): string {
  if (message !== undefined) return message
  const json = JSON.stringify(args) ?? ''
  const shown = json.length > MAX_ARGS ? `${json.slice(0, MAX_ARGS)}…` : json
  return `${kind === 'approval' ? 'Approve' : 'Run'} \`${toolName}\`: ${shown}`
}

/** The question that a text answers: the only open one, if it accepts text. Text never approves. */
export function askedForText(open: readonly InputRequest[]): InputRequest | undefined {
  const [question, ...others] = open.filter(({ kind }) => kind === 'question')
  const { schema } = question ?? {}
  const takesText = schema === undefined || Object(schema).type === 'string'
  return others.length === 0 && takesText ? question : undefined
}
