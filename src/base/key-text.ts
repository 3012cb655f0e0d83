/** What looks like a provider's key: the text of a refusal may repeat the one that it refuses. */
const KEY = new RegExp(
  [
    // With a digit: `Bearer authentication` is none.
    '\\b(?:[Bb]earer|[Bb]asic)\\s+(?=[^\\s\\d]*\\d)[\\w.~+/=*-]{8,}',
    '\\b(?:sk|pk|rk|key|gsk|xai|hf|gh[a-z]|github_pat)[-_][\\w*.-]{12,}',
    '\\bAIza[\\w*.-]{12,}',
    '\\bA[KS]IA[A-Z0-9]{12,}',
  ].join('|'),
  'g',
)

/** A text of other people's making, without what looks like a key. */
export function withoutKeyText(text: string): string {
  return text.replace(KEY, '[redacted]')
}
