/** The agents that clients of MCP call as tools: each does one thing that such a client tells. None needs a model. */
import * as v from 'valibot'
import { Agent, type ServableAgent, type Toolkit, textOf, tool } from '../../../src/index.ts'
import type { McpTool } from '../../../src/protocols/mcp/plugin.ts'
import { DOT } from '../ai-sdk-ui/agents.ts'
import { agent, type Body, payingAgents } from '../protocol-agents.ts'

const says = new Agent({
  name: 'says',
  description: 'Says hello',
  register: false,
  async *run(input) {
    yield 'Hello, '
    yield `${textOf(input)}!`
  },
})

/** Shows a picture. */
const draws = agent('draws', function* () {
  yield 'Here it is.'
  yield { type: 'message', parts: [{ type: 'image', data: DOT, mimeType: 'image/png' }] }
})

const weighs = new Agent({
  name: 'weighs',
  register: false,
  output: { type: 'object', properties: { grams: { type: 'number' } }, required: ['grams'] },
  run: async () => ({ text: 'Weighed.', structured: { grams: 12 } }),
})

const refuses = agent('refuses', () => {
  throw new Error('a secret of the server')
})

/** What is told of a run, under the text of its input. */
const notes = new Map<string, string>()

const tells = agent('tells', input => notes.get(textOf(input)) ?? 'nothing')

/** Waits until its signal fires. */
const waits = agent('waits', async function* (input, { signal }) {
  const name = textOf(input)
  notes.set(name, 'started')
  yield 'I wait. '
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve))
  notes.set(name, 'stopped')
})

/** Gates are opened by name. */
const gates = new Set<string>()

const opens = agent('opens', input => {
  gates.add(textOf(input))
})

/** Counts until the gate of its input is opened. */
const counts = agent('counts', async function* (input, { signal }) {
  const gate = textOf(input)
  notes.set(gate, 'started')
  for (let count = 1; !gates.has(gate) && !signal.aborted; count++) {
    yield `${count} `
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  yield 'and done.'
})

const text = { type: 'string' }

const sized: Body = async function* (_, { ask }) {
  yield 'A shirt. '
  const schema = { type: 'object', properties: { size: { ...text, enum: ['S', 'M'] } }, required: ['size'] }
  const { size } = (yield* ask('size', { message: 'Which size?', schema })) as { size: string }
  const color = yield* ask('color', { message: 'Which color?', schema: text })
  yield `It is ${color}, in ${size}.`
}

/** Asks two questions, one after the other. */
const asks = agent('asks', sized)

const asksInWords = agent('words', async function* (_, { ask }) {
  yield `It is ${yield* ask('size', { message: 'Which size?' })}.`
})

const { pays, paid } = payingAgents()

export const agents: Readonly<Record<string, ServableAgent>> = {
  says,
  draws,
  weighs,
  refuses,
  tells,
  waits,
  opens,
  counts,
  asks,
  words: asksInWords,
  pays,
  paid,
}

/** The agents that are offered. The others are asked beside MCP. */
export const tools: readonly (string | McpTool)[] = [
  'says',
  'draws',
  'weighs',
  'refuses',
  'waits',
  'counts',
  'asks',
  'words',
  'pays',
  { of: 'asks', name: 'asks_later', taskSupport: 'required' },
  { of: 'refuses', name: 'refuses_later', taskSupport: 'required' },
]

/** A tool that is called without an agent. */
export const arithmetic: Toolkit = {
  name: 'arithmetic',
  tools: [
    tool({
      name: 'multiply',
      description: 'Multiplies two numbers',
      parameters: v.object({ a: v.number(), b: v.number() }),
      execute: ({ a, b }) => ({ product: a * b }),
    }),
  ],
}
