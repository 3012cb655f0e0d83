/** The AI SDK, with its three providers of OpenAI's interface. */
import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai'
import { type Asked, DESCRIPTION, PARAMETERS, type Paint, SCHEMA, type Way } from './way.ts'

function messagesOf({ text, image }: Asked): ModelMessage[] {
  const pictures =
    image === undefined
      ? []
      : [{ type: 'file' as const, mediaType: 'image/png', data: image.split(',')[1] ?? '' }]
  return [{ role: 'user', content: [{ type: 'text', text }, ...pictures] }]
}

const toolsOf = (paint: Paint) => ({
  paint: tool({
    description: DESCRIPTION,
    inputSchema: jsonSchema<Parameters<Paint>[0]>(PARAMETERS),
    execute: args => paint(args),
  }),
})

const stopWhen = isStepCount(3)

const output = Output.object({ schema: jsonSchema(SCHEMA) })

function way(modelOf: (name: string) => LanguageModel): Way {
  // It runs again whatever the service says of that, unless it is told not to.
  const common = (asked: Asked) => ({
    model: modelOf(asked.model),
    messages: messagesOf(asked),
    maxRetries: 0,
    ...(asked.signal && { abortSignal: asked.signal }),
  })
  return {
    async ask(asked) {
      const { text, reasoningText = '', usage, finishReason } = await generateText(common(asked))
      const { inputTokens, outputTokens } = usage
      return { text, reasoning: reasoningText, usage: [inputTokens, outputTokens], finish: finishReason }
    },
    async stream(asked, onText) {
      let failure: unknown
      const result = streamText({
        ...common(asked),
        onError({ error }) {
          failure = error
        },
      })
      for await (const piece of result.textStream) onText?.(piece)
      if (failure !== undefined) throw failure
      asked.signal?.throwIfAborted()
      const { inputTokens, outputTokens } = await result.usage
      return {
        text: await result.text,
        reasoning: (await result.reasoningText) ?? '',
        usage: [inputTokens, outputTokens],
        finish: await result.finishReason,
      }
    },
    async converse(name, first, second) {
      const model = modelOf(name)
      const messages: ModelMessage[] = [{ role: 'user', content: first }]
      messages.push(...(await generateText({ model, messages })).responseMessages)
      messages.push({ role: 'user', content: second })
      return (await generateText({ model, messages })).text
    },
    async withTool(asked, paint) {
      return (await generateText({ ...common(asked), tools: toolsOf(paint), stopWhen })).text
    },
    async streamWithTool(asked, paint) {
      const result = streamText({ ...common(asked), tools: toolsOf(paint), stopWhen })
      return await result.text
    },
    async object(asked) {
      return (await generateText({ ...common(asked), output })).output
    },
    async streamObject(asked) {
      return await streamText({ ...common(asked), output }).output
    },
  }
}

export function chat(baseURL: string, apiKey: string): Way {
  return way(createOpenAI({ baseURL, apiKey }).chat)
}

export function compatible(baseURL: string, apiKey: string): Way {
  const provider = createOpenAICompatible({
    name: 'servable',
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  return way(provider)
}

export function openResponses(baseURL: string, apiKey: string): Way {
  return way(createOpenResponses({ name: 'servable', url: `${baseURL}/responses`, apiKey }))
}

export function responses(baseURL: string, apiKey: string): Way {
  const provider = createOpenAI({ baseURL, apiKey })
  return {
    ...way(provider.responses),
    async sayBoth(name, first, second) {
      const model = provider.responses(name)
      const { providerMetadata } = await generateText({ model, prompt: first })
      const openai = { previousResponseId: String(providerMetadata?.openai?.responseId) }
      return (await generateText({ model, prompt: second, providerOptions: { openai } })).text
    },
    async approve(asked, decide) {
      const messages = messagesOf(asked)
      const model = provider.responses(asked.model)
      const tools = {
        mcp: provider.tools.mcp({
          serverLabel: 'servable',
          serverUrl: 'http://127.0.0.1:1',
          requireApproval: 'always',
        }),
      }
      const first = await generateText({ model, messages, tools, maxRetries: 0 })
      const decisions = first.content.flatMap(part =>
        part.type === 'tool-approval-request'
          ? [
              {
                type: 'tool-approval-response' as const,
                approvalId: part.approvalId,
                approved: decide(part.toolCall.input),
                providerExecuted: true,
              },
            ]
          : [],
      )
      messages.push(...first.responseMessages, { role: 'tool', content: decisions })
      return (await generateText({ model, messages, tools, maxRetries: 0 })).text
    },
  }
}
