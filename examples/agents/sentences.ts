/** Cuts a text into its sentences. */

import { STOP_WORDS } from './words.ts'

// Every alternative is greedy and then cannot fail, so that the search is linear for every text.
const STOP = /[.!?…]+["'”’»)\]]*|[。！？｡؟۔।॥።։]+["'”’」』）》)]*|\n\s*/g
const WIDE = /^[。！？｡؟۔।॥።։]/
const CLOSER = /["'”’»)\]」』）》]$/
const OPENERS = `["'“‘«(\\[]*`
const STARTS_LOWER = new RegExp(`^${OPENERS}\\p{Ll}`, 'u')
const FIRST_WORD = new RegExp(`^${OPENERS}([\\p{L}\\p{M}'’]+)`, 'u')
const HEADING = /^ {0,3}#{1,6}\s/
const NEW_ITEM = /^(?:#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s)/

/** Abbreviations that stand before a name or number. No sentence ends with them. */
const LEADING = new Set(
  `adm al bzw ca capt cf col d.h dr e.g eg fr gen gov hon i.e ie lt m.a.w maj mag messrs mlle mme mr mrs ms mt pres
  prof rep rev sen sgt st viz vgl vs z.b z.t`.split(/\s+/),
)
/** Abbreviations before a number that are words otherwise: `No. 5`, but `He said no.` */
const NUMBERED = new Set(
  `abb abs apr art aug bd ch dec eq feb fig figs jan jul jun kap mar no nos nov nr oct p pp sec sect sep sept tab
  vol`.split(/\s+/),
)
/** Abbreviations that may end a sentence if a capital follows. */
const TRAILING = new Set('approx assn bros co corp dept dist est etc inc jr ltd sr usw'.split(' '))

/**
 * The sentences of a text as slices with their white space, so that the joined slices are the text. A full stop in an
 * abbreviation, an initial or a decimal ends no sentence. A line break ends one at a blank line, at a heading and before an
 * item of a list.
 */
export function splitSentences(text: string): string[] {
  const slices: string[] = []
  let from = 0
  for (const { 0: stop, index } of text.matchAll(STOP)) {
    const end = index + stop.length
    if (!endsSentence(text, from, index, stop) || isBlank(text.slice(from, end))) continue
    slices.push(text.slice(from, end))
    from = end
  }
  return withRest(slices, text.slice(from))
}

/** One sentence as it is shown: on one line, with single spaces. */
export function tidy(sentence: string): string {
  return sentence.trim().replace(/\s+/g, ' ')
}

/** Whether a sentence is a markdown heading. */
export function isHeading(sentence: string): boolean {
  return HEADING.test(sentence.trimStart())
}

/** The gap between a sentence and the next. Scripts without spaces have none. */
export function gapAfter(sentence: string): string {
  return /[。！？｡][」』”’）》]*$/.test(sentence) ? '' : ' '
}

function withRest(slices: string[], rest: string): string[] {
  if (rest === '') return slices
  if (slices.length === 0 || !isBlank(rest)) return [...slices, rest]
  return [...slices.slice(0, -1), slices.at(-1) + rest]
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function endsSentence(text: string, from: number, index: number, stop: string): boolean {
  if (stop.startsWith('\n')) return endsAtBreak(text, index, stop)
  const after = text.slice(index + stop.length, index + stop.length + 60)
  // 「…。」と言った: after the quotation, the outer sentence continues.
  if (WIDE.test(stop)) return !(CLOSER.test(stop) && /^[とっ]/.test(after))
  if (after !== '' && !/^\s/.test(after)) return false
  const next = after.trimStart()
  if (STARTS_LOWER.test(next) && (CLOSER.test(stop) || /…|\.\./.test(stop))) return false
  return !stop.startsWith('.') || stop.startsWith('..') || !isInside(text, from, index, next)
}

function endsAtBreak(text: string, index: number, stop: string): boolean {
  if (stop.includes('\n', 1)) return true
  const line = index === 0 ? 0 : text.lastIndexOf('\n', index - 1) + 1
  const next = index + stop.length
  return HEADING.test(text.slice(line, line + 12)) || NEW_ITEM.test(text.slice(next, next + 8))
}

/** Whether a full stop belongs to the text before it: the number of a list item, an initial, an abbreviation. */
function isInside(text: string, from: number, index: number, next: string): boolean {
  if (index - from < 12 && /^\s*\d+$/.test(text.slice(from, index))) return true
  const word = /[\p{L}\p{M}\p{N}.]*$/u.exec(text.slice(Math.max(from, index - 24), index))?.[0] ?? ''
  return isAbbreviation(word, next)
}

function isAbbreviation(word: string, next: string): boolean {
  const lower = word.toLowerCase()
  if (LEADING.has(lower) || /^\p{Lu}$/u.test(word)) return true
  if (NUMBERED.has(lower)) return /^\d/.test(next)
  if (TRAILING.has(lower)) return STARTS_LOWER.test(next)
  // `U.S. Army`, but `in the U.S. The army`: a capitalized common word begins a sentence.
  return /^(?:\p{L}\.)+\p{L}$/u.test(word) && !startsSentence(next)
}

function startsSentence(next: string): boolean {
  const word = FIRST_WORD.exec(next)?.[1] ?? ''
  return !STARTS_LOWER.test(next) && STOP_WORDS.has(word.toLowerCase())
}
