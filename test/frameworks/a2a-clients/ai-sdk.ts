/** The AI SDK, with `a2a-ai-provider`. */
import { a2a } from 'a2a-ai-provider'
import { generateText, type ModelMessage, streamText } from 'ai'
import type { AiSdk, ModelInput, ModelOptions } from './way.ts'

function asking(url: string, input: ModelInput, { contextId }: ModelOptions) {
  const messages: ModelMessage[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return {
    // It wants the address of the card.
    model: a2a(`${url}/.well-known/agent-card.json`),
    messages,
    maxRetries: 0,
    ...(contextId !== undefined && { providerOptions: { a2a: { contextId } } }),
  }
}

export const aiSdk: AiSdk = {
  generate: (url, input, options = {}) => generateText(asking(url, input, options)),
  async stream(url, input, options = {}) {
    const { fullStream } = streamText({ ...asking(url, input, options), onError() {} })
    const files = []
    let text = ''
    let finishReason: string | undefined
    for await (const part of fullStream) {
      if (part.type === 'text-delta') {
        text += part.text
        options.onText?.(part.text)
      } else if (part.type === 'file') files.push(part.file)
      else if (part.type === 'finish') finishReason = part.finishReason
    }
    return { text, finishReason, files }
  },
}
