/** A model of the AI SDK's kind that says the pieces, or asks for the tool of 1 MB in each of the rounds, as its last user asked. */

import type { LanguageModel } from 'ai'
import { PIECES, piece, ROUNDS } from './kept-shapes.ts'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Prompt = Parameters<Model['doStream']>[0]['prompt']
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

export const PAGE_TOOL = 'read_page'

function* partsFor(prompt: Prompt, speaks: boolean): Generator<Part> {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'))
  const round = turn.filter(({ role }) => role === 'tool').length + 1
  const isCall = !speaks && round <= ROUNDS
  yield { type: 'stream-start', warnings: [] }
  if (isCall) {
    const input = JSON.stringify({ page: round })
    yield { type: 'tool-call', toolCallId: `call-${round}`, toolName: PAGE_TOOL, input }
  } else {
    yield { type: 'text-start', id: 't' }
    const texts = speaks ? Array.from({ length: PIECES }, (_, index) => piece(index + 1)) : ['Read.']
    for (const delta of texts) yield { type: 'text-delta', id: 't', delta }
    yield { type: 'text-end', id: 't' }
  }
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  }
  const unified = isCall ? 'tool-calls' : 'stop'
  yield { type: 'finish', finishReason: { unified, raw: undefined }, usage } as Part
}

/** A piece for each read, and a pause of a millisecond after twenty, as here. */
function streamed(parts: Generator<Part>): ReadableStream<Part> {
  let told = 0
  return new ReadableStream<Part>({
    async pull(controller) {
      const { value, done } = parts.next()
      if (done) return controller.close()
      if (told++ % 20 === 0) await new Promise(resolve => setTimeout(resolve, 1))
      controller.enqueue(value)
    },
  })
}

export const modelThat = (does: 'speaks' | 'calls'): Model => ({
  specificationVersion: 'v4',
  provider: 'scripted',
  modelId: does,
  supportedUrls: {},
  async doGenerate() {
    throw new Error('This model only streams')
  },
  async doStream({ prompt }) {
    return { stream: streamed(partsFor(prompt, does === 'speaks')) }
  },
})
