/** Texts that look like a provider's key. The error of a refused key may repeat it. */
const KEY = new RegExp(
  [
    // With a digit, since `Bearer authentication` is no key.
    '\\b(?:[Bb]earer|[Bb]asic)\\s+(?=[^\\s\\d]*\\d)[\\w.~+/=*-]{8,}',
    '\\b(?:sk|pk|rk|key|gsk|xai|hf|gh[a-z]|github_pat)[-_][\\w*.-]{12,}',
    '\\bAIza[\\w*.-]{12,}',
    '\\bA[KS]IA[A-Z0-9]{12,}',
  ].join('|'),
  'g',
)

/** Removes texts that look like a key from text of other code. */
export function withoutKeyText(text: string): string {
  return text.replace(KEY, '[redacted]')
}
