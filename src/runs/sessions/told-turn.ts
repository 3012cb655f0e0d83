/**
 * How a turn is told to a model, and what is kept of its input.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/run-types.ts'
import type { Turn } from '../../agents/turn.ts'

/** Most characters of a file, or of data, that a turn keeps. */
const MAX_FILE = 32_768

/** Most characters of a text, and of an input, that a turn keeps. */
export const MAX_TEXT = 131_072

/** An input as a turn keeps it: what is large is named. */
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

/** A turn as the words of a user and of an answer; nothing where nothing was answered. */
export function toldOf({ input, text, continuedFrom }: Turn): readonly unknown[] {
  if (!text) return []
  const answer = { role: 'assistant', content: text }
  // The turn before has what the user said.
  if (continuedFrom !== undefined) return [answer]
  const content = typeof input === 'string' ? input : input.map(wordsOf).join('\n')
  return [{ role: 'user', content }, answer]
}

function wordsOf(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return JSON.stringify(part.data) ?? 'null'
  const filename = part.type === 'file' ? part.filename : undefined
  return `[a file: ${filename ?? part.mimeType ?? part.type}]`
}

/** A message, in the words of the AI SDK, without what one provider alone understands. */
export function plain(message: unknown): unknown {
  if (Array.isArray(message)) return message.filter(part => Object(part).type !== 'reasoning').map(plain)
  if (typeof message !== 'object' || message === null) return message
  const members = Object.entries(message).filter(([name]) => name !== 'providerOptions')
  return Object.fromEntries(members.map(([name, value]) => [name, name === 'content' ? plain(value) : value]))
}
