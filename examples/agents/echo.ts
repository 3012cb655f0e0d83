import { Agent, textOf } from '../../src/index.ts'
import { usageOf } from './words.ts'

/** Repeats the input, word by word. The joined pieces are exactly the input. */
export const echo: Agent = new Agent({
  name: 'echo',
  description: 'Streams the input back word by word',
  corrections: true,
  async *run(input) {
    const text = textOf(input)
    for (const [piece] of text.matchAll(/\S+\s*|\s+/g)) yield piece
    return { usage: usageOf(text, text) }
  },
})
