// An agent of a scripted model. Each answer of the model, and each call of a tool, is an effect.
import type { LanguageModel } from 'ai'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import type { Tool } from '../../../src/index.ts'
import type { Done } from '../faults/effects.ts'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Prompt = Parameters<Model['doStream']>[0]['prompt']
type Stream = Awaited<ReturnType<Model['doStream']>>['stream']
type Part = Stream extends ReadableStream<infer P> ? P : never

/** Does something that nothing takes back. */
type Act = (key: string, name: string) => Promise<Done>

/** The tools that each answer calls. After the last one, the model says what was done. */
const ROUNDS = [['pick', 'pick'], ['pack', 'ship'], []]

const USAGE = {
  inputTokens: { total: 7, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: undefined, reasoning: undefined },
}

/** What is done, as the prompt tells it: the results of tools, and the answers of the model. */
function doneIn(prompt: Prompt): Done[] {
  return prompt.flatMap(({ role, content }) => {
    if (role !== 'assistant' && role !== 'tool') return []
    return content.flatMap(part => {
      if (part.type === 'text') return [JSON.parse(part.text) as Done]
      if (part.type !== 'tool-result') return []
      return part.output.type === 'json' ? [part.output.value as unknown as Done] : []
    })
  })
}

function inputOf(prompt: Prompt): string {
  const [user] = prompt.flatMap(({ role, content }) => (role === 'user' ? content : []))
  return user?.type === 'text' ? user.text : ''
}

/** The parts of an answer: a text, and calls of tools. */
function partsOf(text: string, tools: readonly string[], isAsked: boolean): Part[] {
  const middle = Math.floor(text.length / 2)
  const unified = tools.length > 0 ? 'tool-calls' : 'stop'
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: text.slice(0, middle) },
    { type: 'text-delta', id: 't', delta: text.slice(middle) },
    { type: 'text-end', id: 't' },
    ...tools.map((toolName): Part => {
      const input = JSON.stringify({ isAsked })
      return { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName, input }
    }),
    { type: 'finish', finishReason: { unified, raw: undefined }, usage: USAGE },
  ]
}

/** Sends one part each few milliseconds. */
function streamOf(parts: Part[]): Stream {
  return new ReadableStream<Part>({
    async pull(controller) {
      await new Promise(resolve => setTimeout(resolve, Math.random() * 10))
      const part = parts.shift()
      if (part === undefined) controller.close()
      else controller.enqueue(part)
    },
  })
}

function modelOf(act: Act): Model {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('The model only streams')),
    async doStream({ prompt }) {
      const input = inputOf(prompt)
      const place = prompt.filter(({ role }) => role === 'assistant').length
      const done = await act(`${input}/model-${place}`, `model-${place}`)
      const tools = ROUNDS[place] ?? []
      const did = [...doneIn(prompt), done]
      const text = tools.length > 0 ? JSON.stringify(done) : `|${JSON.stringify({ did })}`
      return { stream: streamOf(partsOf(text, tools, input.startsWith('approved'))) }
    },
  }
}

/** Makes the agent. A person must approve its tool `ship` if its input begins with `approved`. */
export function helperOf(act: Act): ModelAgent {
  const tool = (name: string): Tool<{ readonly isAsked: boolean }> => ({
    name,
    parameters: { type: 'object', required: ['isAsked'] },
    // Else a person would be asked about each call that is cut off.
    onRepeat: 'run',
    needsApproval: ({ isAsked }) => name === 'ship' && isAsked,
    execute: (_, { idempotencyKey }) => act(idempotencyKey, name),
  })
  return new ModelAgent({
    name: 'helper',
    model: modelOf(act),
    register: false,
    resume: true,
    tools: [tool('pick'), tool('pack'), tool('ship')],
  })
}
