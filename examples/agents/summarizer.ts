import { Agent, ServableError, textOf } from '../../src/index.ts'
import { summarize } from './summary.ts'
import { usageOf } from './words.ts'

/** Default number of sentences in a summary. */
const DEFAULT_COUNT = 3

/**
 * Answers with the most important sentences of the text, unchanged and in order. `in 2 sentences: …` and `Summarize this in
 * two sentences: …` ask for another number than three.
 */
export const summarizer: Agent = new Agent({
  name: 'summarizer',
  description: 'Summarizes any text by its most telling sentences: three, or as many as the message asks for',
  async *run(input) {
    const message = textOf(input)
    const { text, count } = readRequest(message)
    if (text.trim() === '') throw new ServableError('invalid_input', '`input` has no text to summarize')
    const pieces = summarize(text, count)
    yield* pieces
    return { usage: usageOf(message, pieces.join('')) }
  },
})

/** The parts of a message: the text without the instruction, and the number of sentences. */
export interface SummaryRequest {
  readonly text: string
  readonly count: number
}

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const COUNT = String.raw`\b(\d{1,3}|${NUMBERS.join('|')})\s+(?:\w{1,20}\s+)?sentences?`
const ASKED = new RegExp(`${COUNT}\\b`, 'i')
/** `Summarize this:`, `Please summarise the text below in 2 sentences.` */
const INSTRUCTION = /^\s*(?:please,?\s+)?(?:summari[sz]e|sum\s+up)\b([^:.\n]{0,120})([:.\n])\s*/i
/** `In 2 sentences:` */
const BARE = new RegExp(`^\\s*in\\s+${COUNT}\\s*[:\\n]\\s*`, 'i')
/** `… Summarize this in 2 sentences.` */
const LAST = new RegExp(`[\\n.!?]\\s*(?:please,?\\s+)?summari[sz]e\\b[^.!?\\n]*?${COUNT}\\s*[.!]?\\s*$`, 'i')
/** Length of a message's end in which {@link LAST} is searched, so that long texts stay cheap. */
const LAST_LENGTH = 160

/** Separates the instruction, if there is one, from a message. */
export function readRequest(message: string): SummaryRequest {
  return readFirst(message) ?? readLast(message) ?? { text: message, count: DEFAULT_COUNT }
}

function readFirst(message: string): SummaryRequest | undefined {
  const bare = BARE.exec(message)
  if (bare !== null) return { text: message.slice(bare[0].length), count: toCount(bare[1]) }
  const instruction = INSTRUCTION.exec(message)
  if (instruction === null) return undefined
  const [whole, words = '', end] = instruction
  const asked = ASKED.exec(words)
  // `Summarize findings quickly.` may be the first sentence of the text itself.
  if (asked === null && end === '.') return undefined
  return { text: message.slice(whole.length), count: toCount(asked?.[1]) }
}

function readLast(message: string): SummaryRequest | undefined {
  const last = LAST.exec(message.slice(-LAST_LENGTH))
  if (last === null) return undefined
  // The first character of the match ends the last sentence of the text.
  return { text: message.slice(0, message.length - last[0].length + 1), count: toCount(last[1]) }
}

function toCount(text: string | undefined): number {
  if (text === undefined) return DEFAULT_COUNT
  const named = NUMBERS.indexOf(text.toLowerCase())
  return Math.max(1, named === -1 ? Number(text) : named)
}
