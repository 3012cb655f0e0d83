/** The clients of Anthropic's interface, by name, each in its own words. */
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { ChatAnthropic } from '@langchain/anthropic'
import { type AIMessageChunk, HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages'
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai'
import Older from 'anthropic-sdk-0'
import { z } from 'zod'
import type { Way } from './way.ts'

type Messages = Anthropic.MessageParam[]

const SCHEMA = {
  type: 'object' as const,
  properties: { grams: { type: 'number' as const } },
  required: ['grams'],
  additionalProperties: false,
}

const textIn = (content: readonly { type: string }[]) =>
  content.map(block => (block.type === 'text' ? (block as unknown as { text: string }).text : '')).join('')

/** The SDK. `more` is what its tool runner sends. */
function sdk(client: Anthropic, more: object): Way {
  const max_tokens = 100
  const say = (model: string, messages: Messages) => client.messages.create({ model, max_tokens, messages })
  return {
    async ask(model, text) {
      const message = await say(model, [{ role: 'user', content: text }])
      if (!message._request_id) throw new Error('It has no request id')
      return textIn(message.content)
    },
    async stream(model, text) {
      const messages = [{ role: 'user' as const, content: text }]
      const { content, usage } = await client.messages.stream({ model, max_tokens, messages }).finalMessage()
      const reasoning = content.map(block => (block.type === 'thinking' ? block.thinking : '')).join('')
      return { text: textIn(content), reasoning, tokens: usage.output_tokens }
    },
    async converse(model, first, second) {
      const messages: Messages = [{ role: 'user', content: first }]
      const { content } = await say(model, messages)
      messages.push({ role: 'assistant', content }, { role: 'user', content: second })
      return textIn((await say(model, messages)).content)
    },
    async withTool(text, paint) {
      const tools = [
        betaZodTool({
          name: 'paint',
          description: 'Paints',
          inputSchema: z.object({ of: z.string() }),
          run: ({ of }) => paint(of),
        }),
      ]
      const messages = [{ role: 'user' as const, content: text }]
      const body = { model: 'paints', max_tokens, messages, tools, ...more }
      return textIn((await client.beta.messages.toolRunner(body)).content)
    },
    async leave(text) {
      const messages = [{ role: 'user' as const, content: text }]
      const stream = client.messages.stream({ model: 'waits', max_tokens, messages })
      stream.on('text', () => stream.abort())
      await stream.done().catch(() => {})
    },
  }
}

/** The AI SDK. */
function ai(baseURL: string, apiKey: string): Way {
  const provider = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey })
  const maxRetries = 0
  return {
    async ask(model, prompt) {
      return (await generateText({ model: provider(model), prompt, maxRetries })).text
    },
    async stream(model, prompt) {
      const errors: unknown[] = []
      const result = streamText({
        model: provider(model),
        prompt,
        maxRetries,
        onError: ({ error }) => void errors.push(error),
      })
      let text = ''
      for await (const part of result.fullStream) {
        if (part.type === 'text-delta') text += part.text
        if (part.type === 'error') throw part.error
      }
      if (errors.length > 0) throw errors[0]
      return {
        text,
        reasoning: (await result.reasoningText) ?? '',
        tokens: (await result.usage).outputTokens,
      }
    },
    async converse(model, first, second) {
      const messages = [{ role: 'user' as const, content: first }]
      const { responseMessages } = await generateText({ model: provider(model), messages, maxRetries })
      const all = [...messages, ...responseMessages, { role: 'user' as const, content: second }]
      return (await generateText({ model: provider(model), messages: all, maxRetries })).text
    },
    async withTool(prompt, paint) {
      const inputSchema = jsonSchema<{ of: string }>({
        type: 'object',
        properties: { of: { type: 'string' } },
      })
      const tools = { paint: tool({ inputSchema, execute: ({ of }) => paint(of) }) }
      const stopWhen = isStepCount(3)
      return (await generateText({ model: provider('paints'), prompt, tools, stopWhen, maxRetries })).text
    },
    async object(model) {
      const output = Output.object({ schema: jsonSchema(SCHEMA) })
      return (await generateText({ model: provider(model), prompt: 'x', output, maxRetries })).output
    },
    async leave(prompt) {
      const leaving = new AbortController()
      const result = streamText({
        model: provider('waits'),
        prompt,
        maxRetries,
        abortSignal: leaving.signal,
        onError() {},
      })
      for await (const _ of result.textStream) leaving.abort()
    },
  }
}

function langchain(anthropicApiUrl: string, apiKey: string): Way {
  const modelOf = (model: string) => new ChatAnthropic({ model, apiKey, anthropicApiUrl, maxRetries: 0 })
  return {
    ask: async (model, text) => (await modelOf(model).invoke(text)).text,
    async stream(model, text) {
      let all: AIMessageChunk | undefined
      for await (const chunk of await modelOf(model).stream(text)) all = all?.concat(chunk) ?? chunk
      if (all === undefined) throw new Error('nothing was streamed')
      const blocks = Array.isArray(all.content) ? all.content : []
      const reasoning = blocks
        .map(block => (block.type === 'thinking' ? String(block.thinking) : ''))
        .join('')
      return {
        text: all.text,
        reasoning,
        tokens: (all.usage_metadata as UsageMetadata | undefined)?.output_tokens,
      }
    },
    async converse(name, first, second) {
      const model = modelOf(name)
      const answer = await model.invoke(first)
      return (await model.invoke([new HumanMessage(first), answer, new HumanMessage(second)])).text
    },
    async withTool(text, paint) {
      const input_schema = { type: 'object' as const, properties: { of: { type: 'string' } } }
      const model = modelOf('paints').bindTools([{ name: 'paint', description: 'Paints', input_schema }])
      const first = await model.invoke(text)
      const results = (first.tool_calls ?? []).map(
        ({ id = '', args }) => new ToolMessage({ tool_call_id: id, content: paint(String(args.of)) }),
      )
      return (await model.invoke([new HumanMessage(text), first, ...results])).text
    },
    object: model =>
      modelOf(model).withStructuredOutput(SCHEMA, { name: 'weight', method: 'functionCalling' }).invoke('x'),
    async leave(text) {
      const leaving = new AbortController()
      const stream = await modelOf('waits').stream(text, { signal: leaving.signal })
      try {
        for await (const _ of stream) leaving.abort()
      } catch {
        // It was left.
      }
    },
  }
}

export function waysTo(baseURL: string, apiKey: string): Readonly<Record<string, Way>> {
  const newer = new Anthropic({ baseURL, apiKey })
  return {
    '@anthropic-ai/sdk 1': sdk(newer, {}),
    '@anthropic-ai/sdk 1, without threads': sdk(newer, { thread: false }),
    '@anthropic-ai/sdk 0': sdk(new Older({ baseURL, apiKey }) as unknown as Anthropic, {}),
    '@ai-sdk/anthropic': ai(baseURL, apiKey),
    '@langchain/anthropic': langchain(baseURL, apiKey),
  }
}

/** What the SDK says of models, and of tokens. */
export async function modelsOf(baseURL: string, apiKey: string): Promise<readonly [string[], number]> {
  const client = new Anthropic({ baseURL, apiKey })
  const ids: string[] = []
  for await (const { id } of client.models.list()) ids.push(id)
  const messages = [{ role: 'user' as const, content: 'x' }]
  return [ids, (await client.messages.countTokens({ model: 'says', messages })).input_tokens]
}
