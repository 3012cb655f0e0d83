/** The echo as an in-process model of the AI SDK, for the frameworks' own agents. */

import { ReadableStream } from 'node:stream/web'
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { echo } from '../echo.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}
const finishReason = { unified: 'stop', raw: 'stop' } as const

function piecesOf({ prompt, abortSignal }: LanguageModelV3CallOptions): AsyncGenerator<string> {
  const last = prompt.findLast(({ role }) => role === 'user')
  const part = Array.isArray(last?.content) ? last.content.find(({ type }) => type === 'text') : undefined
  return echo(part && 'text' in part ? part.text : '', abortSignal)
}

async function* partsOf(options: LanguageModelV3CallOptions): AsyncGenerator<LanguageModelV3StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'text-start', id: '1' }
  for await (const delta of piecesOf(options)) yield { type: 'text-delta', id: '1', delta }
  yield { type: 'text-end', id: '1' }
  yield { type: 'finish', finishReason, usage }
}

export const model: LanguageModelV3 = {
  specificationVersion: 'v3',
  provider: 'acme',
  modelId: 'echo',
  supportedUrls: {},
  async doGenerate(options) {
    let text = ''
    for await (const piece of piecesOf(options)) text += piece
    return { content: [{ type: 'text', text }], finishReason, usage, warnings: [] }
  },
  async doStream(options) {
    return {
      stream: ReadableStream.from(partsOf(options)) as globalThis.ReadableStream<LanguageModelV3StreamPart>,
    }
  },
}
