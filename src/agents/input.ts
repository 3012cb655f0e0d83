import type { RunInput } from './contract.ts'

/** The text of an input: the input itself, or its text parts joined by line breaks. */
export function textOf(input: RunInput): string {
  if (typeof input === 'string') return input
  return input.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}
