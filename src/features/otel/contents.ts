/**
 * Inputs and outputs as attributes: the JSON of messages, of limited length.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'

/** Most characters of a name or an id. */
const MAX_NAME = 1024

/** Most characters of an input or output. */
export const MAX_CONTENT = 32_768

/** Most characters of a key that is redacted even at a cut. A longer one could be cut in two, and not be found. */
const MAX_KEY = 4096

/** Removes secrets from a text. */
export type Redact = (text: string) => string

/** A text without secrets, and of limited length. A possible first part of a secret at its end is removed. */
export function clean(text: string, redact: Redact, max: number = MAX_NAME): string {
  const cleaned = redact(text.slice(0, max + MAX_KEY))
  const isCut = text.length >= max + MAX_KEY
  return (isCut ? cleaned.slice(0, -MAX_KEY) : cleaned).slice(0, max)
}

/** A value as JSON, without secrets. Undefined if it is not JSON. */
export function cleanJson(value: unknown, redact: Redact): string | undefined {
  try {
    const json = typeof value === 'string' ? value : JSON.stringify(value)
    return json && clean(json, redact, MAX_CONTENT)
  } catch {
    return undefined
  }
}

/** Collects text as it arrives, up to the limit. */
export class OutputText {
  #text = ''

  add(text: string): void {
    if (this.#text.length < MAX_CONTENT + MAX_KEY) this.#text += text.slice(0, MAX_CONTENT + MAX_KEY)
  }

  /** `gen_ai.output.messages`: the one message of a run. */
  message(redact: Redact): string {
    const parts = [{ type: 'text', content: clean(this.#text, redact, MAX_CONTENT) }]
    return JSON.stringify([{ role: 'assistant', parts }])
  }
}

/** `gen_ai.input.messages`: the message of a run. Files are listed without their data. */
export function inputMessages(input: RunInput, redact: Redact): string {
  let left = MAX_CONTENT
  const cut = (text: string) => {
    const content = clean(text, redact, left)
    left -= content.length
    return content
  }
  const toPart = (part: ContentPart) => {
    if (part.type === 'text') return { type: 'text', content: cut(part.text) }
    const generic = { type: 'generic', generic_type: part.type }
    if (part.type === 'data') return { ...generic, content: cut(cleanJson(part.data, redact) ?? '') }
    return { ...generic, mime_type: part.mimeType && clean(part.mimeType, redact) }
  }
  const given: readonly ContentPart[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input
  return JSON.stringify([{ role: 'user', parts: given.slice(0, MAX_PARTS).map(toPart) }])
}

const MAX_PARTS = 100
