import type { RunRecord } from '../../src/client/index.ts'

export type Rating = NonNullable<RunRecord['feedback']>

/** What people see of feedback: a sign, which differs in shape, and a word. */
const RATED: Readonly<Record<Rating, readonly [sign: string, word: string]>> = {
  positive: ['▲', 'Good'],
  negative: ['▼', 'Bad'],
  neutral: ['◆', 'Neither good nor bad'],
}

/** The rating of a score. */
export function ratingOf(score = 0): Rating {
  if (score === 0) return 'neutral'
  return score > 0 ? 'positive' : 'negative'
}

/** The word for a rating. */
export function wordOf(rating: Rating): string {
  return RATED[rating][1]
}

/** The sign of a rating. Without `isBeside`, its word is said to those who do not see it. */
export function Rated({ rating, isBeside = false }: { rating: Rating; isBeside?: boolean }) {
  const [sign, word] = RATED[rating]
  return (
    <span class={`rated ${rating}`} title={isBeside ? undefined : `Feedback: ${word}`}>
      <span aria-hidden="true">{sign}</span>
      {!isBeside && <span class="unseen">Feedback: {word}. </span>}
    </span>
  )
}
