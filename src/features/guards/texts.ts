/**
 * Changes the texts in inputs and values, and nothing else.
 *
 * @module
 */

import type { Answer, ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { ClientInput } from '../../runs/input-filter.ts'

/** Returns the new text for a text. */
export type ChangeText = (text: string) => string

/**
 * Changes every text of an input, a history or answers: of messages, and in the JSON of data, tool calls, results and answers,
 * where numbers and names count as texts too. The content of files, and all ids, stay unchanged.
 *
 * @example
 * onInput: said => mapTexts(said, text => text.replaceAll(secret, '[secret]'))
 */
export function mapTexts<S extends ClientInput>(clientInput: S, change: ChangeText): S {
  const { input, history, answers } = clientInput
  return {
    ...clientInput,
    ...(input !== undefined && { input: changeInput(input, change) }),
    ...(history !== undefined && { history: history.map(message => changeMessage(message, change)) }),
    ...(answers !== undefined && { answers: answers.map(answer => changeAnswer(answer, change)) }),
  }
}

function changeMessage(message: HistoryMessage, change: ChangeText): HistoryMessage {
  if (message.role === 'tool') return { ...message, result: changeJson(message.result, change) }
  const { content } = message
  const changed = content !== undefined && { content: changeInput(content, change) }
  if (message.role !== 'assistant') return { ...message, ...changed }
  const { toolCalls } = message
  const calls = toolCalls?.map(call => ({ ...call, args: changeJson(call.args, change) }))
  return { ...message, ...changed, ...(calls && { toolCalls: calls }) }
}

const ANSWERED = ['value', 'result', 'editedArgs', 'reason']

function changeAnswer(answer: Answer, change: ChangeText): Answer {
  return changeMembers(answer, name => ANSWERED.includes(name), change)
}

/** An object with some of its members changed. The same object if nothing changes. */
export function changeMembers<T extends object>(
  value: T,
  has: (name: string) => boolean,
  change: ChangeText,
): T {
  const changed = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const after = has(name) ? changeJson(member, change) : member
    return after === member ? [] : [[name, after] as const]
  })
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

/** A message with changed texts. */
export function changeInput(input: RunInput, change: ChangeText): RunInput {
  return typeof input === 'string' ? change(input) : changeParts(input, change)
}

/** Parts with changed texts. The same parts if nothing changes. */
export function changeParts(parts: readonly ContentPart[], change: ChangeText): readonly ContentPart[] {
  const changed = parts.map(part => {
    if (part.type === 'text' || part.type === 'data') return changeMembers(part, notType, change)
    // The content of a file is not a text, but its address is.
    const isAddress = /^(?!data:)[a-z][a-z\d+.-]*:/i.test(part.data)
    return changeMembers(part, name => notType(name) && (name !== 'data' || isAddress), change)
  })
  return changed.every((part, index) => part === parts[index]) ? parts : changed
}

const notType = (name: string) => name !== 'type' && name !== 'mimeType'

/**
 * A JSON value with every text, name and number in it changed. The same value if nothing changes. A changed number becomes a
 * text. Throws `invalid_event` if the value is not JSON.
 */
export function changeJson(value: unknown, change: ChangeText): unknown {
  if (typeof value === 'string') return change(value)
  if (value === null || value === undefined || typeof value === 'boolean') return value
  const json = jsonOf(value)
  if (json === undefined) return value
  const changed = changeJsonText(json, change)
  return changed === json ? value : JSON.parse(changed)
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new ServableError('invalid_event', 'A value of the run cannot be written as JSON', { cause })
  }
}

/** The same for JSON as text. It is read from left to right, at any depth. */
export function changeJsonText(json: string, change: ChangeText): string {
  const bare = (text: string) => text.replace(NUMBER, number => inJson(number, change(number), number))
  let changed = ''
  let at = 0
  for (let open = json.indexOf('"'); open !== -1; open = json.indexOf('"', at)) {
    const end = endOf(json, open)
    const literal = json.slice(open, end)
    const text = JSON.parse(literal) as string
    changed += bare(json.slice(at, open)) + inJson(text, change(text), literal)
    at = end
  }
  return changed + bare(json.slice(at))
}

const NUMBER = /-?\d[\d.eE+-]*/g

function inJson(before: string, after: string, literal: string): string {
  return before === after ? literal : JSON.stringify(after)
}

/** The position after the text that begins at `open`. */
function endOf(json: string, open: number): number {
  for (let quote = json.indexOf('"', open + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0
    while (json[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
  }
  throw new SyntaxError('A text in JSON has no end')
}
