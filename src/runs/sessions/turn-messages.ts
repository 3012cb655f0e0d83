/**
 * Converts a turn into messages for a model, and its input into the stored form.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/run-types.ts'
import type { Turn } from '../../agents/turn.ts'

/** The most characters of a file, or of data, that a turn stores. */
const MAX_FILE = 32_768

/** The most characters of a text, and of an input, that a turn stores. */
export const MAX_TEXT = 131_072

/** The stored form of an input: large parts are only named. */
export function toKeptInput(input: RunInput): RunInput {
  if (typeof input === 'string') return input.slice(0, MAX_TEXT)
  let room = MAX_TEXT
  return input.map(part => {
    const length = JSON.stringify(part).length
    const fits = length <= room && (part.type === 'text' || length <= MAX_FILE)
    if (fits) room -= length
    return fits ? part : { type: 'text', text: nameOf(part, room) }
  })
}

function nameOf(part: ContentPart, room: number): string {
  if (part.type === 'text') return part.text.slice(0, room)
  if (part.type === 'data') return '[data that is not kept]'
  const filename = part.type === 'file' ? part.filename : undefined
  return `[a file that is not kept: ${filename ?? part.mimeType ?? part.type}]`
}

/** The turn as a user message and an answer; empty if nothing was answered. */
export function messagesOfTurn({ input, text, continuedFrom, steered = [] }: Turn): readonly unknown[] {
  if (!text) return []
  const answer = { role: 'assistant', content: text }
  // The turn before has the user's message.
  const inputs = [...(continuedFrom === undefined ? [input] : []), ...steered.map(each => each.input)]
  if (inputs.length === 0) return [answer]
  const texts = inputs.map(each => (typeof each === 'string' ? each : each.map(partText).join('\n')))
  return [{ role: 'user', content: texts.join('\n\n') }, answer]
}

function partText(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return JSON.stringify(part.data) ?? 'null'
  const filename = part.type === 'file' ? part.filename : undefined
  return `[a file: ${filename ?? part.mimeType ?? part.type}]`
}

/** A message of the AI SDK, without the parts that only one provider understands. */
export function withoutProviderParts(message: unknown): unknown {
  if (Array.isArray(message))
    return message.filter(part => Object(part).type !== 'reasoning').map(withoutProviderParts)
  if (typeof message !== 'object' || message === null) return message
  const members = Object.entries(message).filter(([name]) => name !== 'providerOptions')
  return Object.fromEntries(
    members.map(([name, value]) => [name, name === 'content' ? withoutProviderParts(value) : value]),
  )
}
