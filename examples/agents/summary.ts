/** An extractive summary: the most important sentences of a text. */

import { gapAfter, isHeading, splitSentences, tidy } from './sentences.ts'
import { contentWords, frequencies } from './words.ts'

/** Sentences with fewer content words than this get no bonus for being short. */
const FULL_LENGTH = 8
const FIRST_BONUS = 1.3
const LAST_BONUS = 1.1

/**
 * The pieces of a summary of at most `count` sentences, in the order of the text. Join them without separators. A text with
 * no more sentences than that stays as it is.
 */
export function summarize(text: string, count: number): string[] {
  const sentences = splitSentences(text)
  if (sentences.length <= count) return sentences
  const chosen = best(scores(sentences), count).map(index => tidy(sentences[index] ?? ''))
  return chosen.map((sentence, index) => (index === 0 ? '' : gapAfter(chosen[index - 1] ?? '')) + sentence)
}

/** The indices of the highest values, in order. Among equal values the first wins. */
function best(values: readonly number[], count: number): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
  return order.slice(0, count).sort((a, b) => a - b)
}

function scores(sentences: readonly string[]): number[] {
  const words = sentences.map(contentWords)
  const weights = frequencies(words.flat())
  const seen = new Set<string>()
  return sentences.map((sentence, index) => {
    const key = tidy(sentence)
    if (isHeading(sentence) || seen.has(key)) return 0
    seen.add(key)
    return scoreOf(words[index] ?? [], weights) * bonusAt(index, sentences.length)
  })
}

/** The mean weight of the sentence's words. Each word counts once, so that repetition gives no advantage. */
function scoreOf(words: readonly string[], weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of new Set(words)) sum += weights.get(word) ?? 0
  return sum / Math.max(words.length, FULL_LENGTH)
}

function bonusAt(index: number, length: number): number {
  if (index === 0) return FIRST_BONUS
  return index === length - 1 ? LAST_BONUS : 1
}
