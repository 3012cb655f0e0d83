/** The input of a run as text. */
import type { RunInput } from '../../src/agents/contract.ts'

/** The text of a message. Other parts appear by name. */
export function textOfInput(input: RunInput): string {
  if (typeof input === 'string') return input
  return input
    .map(part => {
      if (part.type === 'text') return part.text
      if (part.type === 'data') return JSON.stringify(part.data)
      return `[${'filename' in part && part.filename ? part.filename : part.type}]`
    })
    .join('\n')
}
