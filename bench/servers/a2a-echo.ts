/** The agent of both sides of the A2A comparison: it repeats the input, word by word. */

import type { RunEvent, RunInput } from '../../src/index.ts'

/** The words of a text, each with the space after it. The first one comes after `pauseMs`, like a model's. */
export async function* wordsOf(text: string, pauseMs = 0): AsyncGenerator<string> {
  if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
  for (const [word] of text.matchAll(/\S+\s*/g)) yield word
}

/** The agent of our side. */
export function echoAgent(pauseMs = 0) {
  return {
    kind: 'agent',
    name: 'echo',
    async *stream(input: RunInput): AsyncGenerator<RunEvent> {
      for await (const text of wordsOf(String(input), pauseMs)) yield { type: 'text', text }
      yield { type: 'finish', finishReason: 'stop' }
    },
  } as const
}
