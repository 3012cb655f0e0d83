/** `@openai/agents`, with its models of both interfaces. */
import {
  Agent,
  hostedMcpTool,
  type Model,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import type OpenAI from 'openai'
import { z } from 'zod'
import { type Asked, DESCRIPTION, type Paint, type Way } from './way.ts'

setTracingDisabled(true)

type Input = Parameters<typeof run>[1]

function inputOf({ text, image }: Asked): Input {
  if (image === undefined) return text
  const content = [
    { type: 'input_text' as const, text },
    { type: 'input_image' as const, image },
  ]
  return [{ role: 'user', content }]
}

const paintTool = (paint: Paint) =>
  tool({
    name: 'paint',
    description: DESCRIPTION,
    parameters: z.object({ of: z.string() }),
    execute: args => paint(args),
  })

interface Ran {
  readonly newItems: readonly { readonly type: string; readonly rawItem?: unknown }[]
  readonly state: { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }
}

/** The texts of the items of a type. */
function textOf({ newItems }: Ran, itemType: string): string {
  const items = newItems.flatMap(({ type, rawItem }) =>
    type === itemType ? (rawItem as { content: { text: string }[] }).content : [],
  )
  return items.map(({ text }) => text).join('')
}

// `finalOutput` is the last message alone.
function answeredBy(ran: Ran) {
  const { inputTokens, outputTokens } = ran.state.usage
  return {
    text: textOf(ran, 'message_output_item'),
    reasoning: textOf(ran, 'reasoning_item'),
    usage: [inputTokens, outputTokens] as const,
  }
}

function way(modelOf: (name: string) => Model): Way {
  const agentOf = (model: string) => new Agent({ name: 'asker', model: modelOf(model) })
  const painter = (model: string, paint: Paint) =>
    new Agent({ name: 'painter', model: modelOf(model), tools: [paintTool(paint)] })
  const weigher = (model: string) =>
    new Agent({ name: 'weigher', model: modelOf(model), outputType: z.object({ grams: z.number() }) })
  return {
    async ask(asked) {
      const { model, signal } = asked
      return answeredBy(await run(agentOf(model), inputOf(asked), signal && { signal }))
    },
    async stream(asked, onText) {
      const { model, signal } = asked
      const ran = await run(agentOf(model), inputOf(asked), { stream: true, ...(signal && { signal }) })
      for await (const piece of ran.toTextStream()) onText?.(piece)
      await ran.completed
      signal?.throwIfAborted()
      return answeredBy(ran)
    },
    async converse(model, first, second) {
      const agent = agentOf(model)
      const { history } = await run(agent, first)
      return answeredBy(await run(agent, [...history, { role: 'user', content: second }])).text
    },
    async withTool(asked, paint) {
      return String((await run(painter(asked.model, paint), asked.text)).finalOutput)
    },
    async streamWithTool(asked, paint) {
      const ran = await run(painter(asked.model, paint), asked.text, { stream: true })
      await ran.completed
      return String(ran.finalOutput)
    },
    async handOver({ model, text }, to) {
      const clerk = new Agent({ name: 'clerk', model: modelOf(to) })
      const triage = Agent.create({ name: 'triage', model: modelOf(model), handoffs: [clerk] })
      return String((await run(triage, text)).finalOutput)
    },
    async object({ model, text }) {
      return (await run(weigher(model), text)).finalOutput
    },
    async streamObject({ model, text }) {
      const ran = await run(weigher(model), text, { stream: true })
      await ran.completed
      return ran.finalOutput
    },
  }
}

export function chat(sdk: OpenAI): Way {
  return way(name => new OpenAIChatCompletionsModel(sdk, name))
}

export function responses(sdk: OpenAI): Way {
  const modelOf = (name: string) => new OpenAIResponsesModel(sdk, name)
  return {
    ...way(modelOf),
    async sayBoth(model, first, second) {
      const agent = new Agent({ name: 'asker', model: modelOf(model) })
      const { lastResponseId = '' } = await run(agent, first)
      return String((await run(agent, second, { previousResponseId: lastResponseId })).finalOutput)
    },
    async approve({ model, text }, decide) {
      const tools = [
        hostedMcpTool({
          serverLabel: 'servable',
          serverUrl: 'http://127.0.0.1:1',
          requireApproval: 'always',
        }),
      ]
      const agent = new Agent({ name: 'payer', model: modelOf(model), tools })
      const { interruptions, state } = await run(agent, text)
      for (const interruption of interruptions) {
        const { providerData } = interruption.rawItem
        if (decide(JSON.parse(providerData?.arguments))) state.approve(interruption)
        else state.reject(interruption)
      }
      return String((await run(agent, state)).finalOutput)
    },
  }
}
