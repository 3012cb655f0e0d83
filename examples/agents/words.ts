/** The words of a text in any script, and their frequencies. */

// In your own project this import is `import { … } from 'servable'`, here and in the other examples.
import type { Usage } from '../../src/index.ts'

// Scripts without spaces between words.
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const SPACED = String.raw`[[\p{L}\p{M}\p{N}]--[${UNSPACED}]]`
const WORD = new RegExp(`[${UNSPACED}]+|${SPACED}+(?:['’]${SPACED}+)*`, 'gv')
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'v')

/** Words that say nothing about the subject of a text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also although an and any are as at be because been before being below
  between both but by can could did do does doing down during each either even few for from further had has have
  having he her here hers him his how however i if in into is it it's its itself just may me might more most must
  my no nor not now of off on once one only or other our out over own same shall she should since so some such
  than that the their them then there these they this those though through to too under until up upon us very was
  we were what when where whether which while who whom whose why will with would yet you your
  aber als am auch auf aus bei bin bis das dass dem den der des die doch ein eine einem einen einer es für hat ich
  ihr im ist ja mit nach nicht noch nur oder sich sie sind und uns von vor war werden wie wir wird zu zum zur über
  au aux avec ce ces cette comme dans de du elle en est et il ils je la le les leur mais ne nous ou où par pas
  pour qu que qui sa se ses son sont sur un une vous con como del el ella ellos era es ese esta este fue ha hay
  las lo los más muy para pero por sin su sus también una y`.split(/\s+/),
)

/**
 * The meaningful words, in lower case. In scripts without spaces, every pair of adjacent characters counts as a word, as in
 * search engines.
 */
export function contentWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).flatMap(word => {
    if (STARTS_UNSPACED.test(word)) return pairs(word)
    return STOP_WORDS.has(word) ? [] : [word]
  })
}

/** How often each of `words` occurs. */
export function frequencies(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** The most frequent words. Among equally frequent words the earlier one comes first. */
export function keywords(text: string, count: number): string[] {
  const counts = [...frequencies(contentWords(text).filter(word => word.length > 1))]
  return counts
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([word]) => word)
}

/** The token usage of an agent without a model. One word is one token. In scripts without spaces, one character is one token. */
export function usageOf(prompt: string, completion: string): Usage {
  const promptTokens = countWords(prompt)
  const completionTokens = countWords(completion)
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
}

/** Counts the words of a text, and the characters in scripts without spaces. */
export function countWords(text: string): number {
  let count = 0
  for (const [word] of text.matchAll(WORD)) count += STARTS_UNSPACED.test(word) ? [...word].length : 1
  return count
}

function pairs(word: string): string[] {
  const characters = [...word]
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
