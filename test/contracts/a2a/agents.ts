/** Agents for tasks, in addition to those of the other contracts. */

import {
  Agent,
  type AgentConfig,
  type ContentPart,
  contextOf,
  type RunInput,
  routeTo,
  steps,
  Team,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { a2a } from '../../../src/protocols/a2a/plugin.ts'
import { agents as common } from '../fixture/agents.ts'
import { asking } from '../fixture/asking.ts'
import { notes, sleep } from '../fixture/record.ts'
import { agents as followed, gates } from '../runs/agents.ts'

/** An extension that the service declares. */
export const CITATIONS = 'https://standards.example.org/extensions/citations/v1'

const agent = (name: string, run: AgentConfig['run'], more: Partial<AgentConfig> = {}): Agent =>
  new Agent({ name, run, register: false, ...more })

/** Answers with a bare message that contains a file and data. */
const says = agent('says', async function* (input) {
  const parts: ContentPart[] = [
    { type: 'text', text: `you said ${textOf(input)}` },
    { type: 'file', data: 'AAEC', mimeType: 'image/png', filename: 'a.png' },
    { type: 'data', data: { a: [1] } },
  ]
  yield { type: 'message', parts }
})

/** Asks for a city until it knows one. In each turn it says what it knows of the task. */
const clerk = agent('clerk', async function* (input, { sessionId, metadata = {} }) {
  notes.push(JSON.stringify({ clerk: sessionId, taskId: metadata.taskId, contextId: metadata.contextId }))
  if (textOf(input) !== 'Oslo') {
    yield 'which city?'
    return { finishReason: 'input_required' as const }
  }
  yield 'sunny in Oslo'
})

/** Requires its client to sign in first. */
const guarded = agent('guarded', async function* (input) {
  const isIn = textOf(input) === 'signed in'
  yield isIn ? 'welcome' : 'sign in'
  if (isIn) return
  return { finishReason: 'auth_required' as const }
})

const refuses = agent('refuses', async function* () {
  yield 'not that'
  return { finishReason: 'rejected' as const }
})

/** Makes an artifact in three chunks, a file and data. */
const makes = agent('makes', async function* () {
  const chunk = (text: string) =>
    ({ artifactId: 'poem', name: 'poem.txt', parts: [{ type: 'text', text }] }) as const
  yield { type: 'artifact', ...chunk('one '), lastChunk: false }
  yield { type: 'artifact', ...chunk('two '), append: true, lastChunk: false }
  yield { type: 'artifact', ...chunk('three'), append: true, lastChunk: true }
  yield {
    type: 'artifact',
    artifactId: 'picture',
    parts: [{ type: 'file', data: 'AAEC', mimeType: 'image/png', filename: 'a.png' }],
  }
  yield {
    type: 'artifact',
    artifactId: 'facts',
    parts: [{ type: 'data', data: { deep: [null, 1.5, '日本'] } }],
  }
  return { structured: { city: 'Oslo' } }
})

/** Returns its input as an artifact. */
const mirror = agent('mirror', async function* (input: RunInput) {
  const parts = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input
  yield { type: 'artifact', artifactId: 'mirror', parts }
})

async function digestOf(key: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Gives the digests of its keys. */
const keyed = agent(
  'keyed',
  async (_input, { apiKey, apiKeys = {} }) => {
    const all = await Promise.all(
      Object.entries(apiKeys).map(async ([name, key]) => [name, await digestOf(key)] as const),
    )
    return {
      structured: {
        apiKey: apiKey === undefined ? null : await digestOf(apiKey),
        apiKeys: Object.fromEntries(all),
      },
    }
  },
  { model: { provider: 'provider-a.chat', id: 'm' } },
)

/** Counts its concurrent runs for one task, and notes when there are two. */
const atWork = new Map<string, number>()
const alone = agent('alone', async function* (input, { metadata = {} }) {
  const id = String(metadata.taskId)
  const count = (atWork.get(id) ?? 0) + 1
  atWork.set(id, count)
  notes.push(`${id} at work ${count}`)
  yield 'working '
  await sleep(20)
  atWork.set(id, count - 1)
  if (textOf(input) === 'end') return
  return { finishReason: 'input_required' as const }
})

/** Ends after the number of event loop turns in its input. Notes its signal. */
const soon = agent('soon', async function* (input, { metadata = {}, signal }) {
  const id = String(metadata.taskId)
  signal.addEventListener('abort', () => notes.push(`${id} aborted`))
  yield 'a'
  for (let round = Number(textOf(input)); round > 0; round--) await sleep(0)
  yield 'b'
})

/** Says one thing at a time, as often as its input says. */
const slow = agent('slow', async function* (input) {
  const count = Number(textOf(input))
  for (let index = 1; index <= count; index++) {
    yield `${index} `
    await sleep(2)
  }
})

/** An agent that no public card may mention. */
const secretive = agent('secretive', () => 'hush')

/** Says with its end, and on its way, what A2A has a place for. */
const talks = agent('talks', async function* (input) {
  const how = textOf(input)
  yield 'an answer'
  yield { type: 'step', name: 'search', status: 'progress', text: 'looking' }
  yield ' goes on'
  yield {
    type: 'artifact',
    artifactId: 'map',
    name: 'map.json',
    description: 'Where it is',
    metadata: { scale: 3 },
    extensions: [CITATIONS],
    parts: [{ type: 'data', data: { x: 1 }, metadata: { unit: 'km' } }],
  }
  if (how === 'quiet') return { finishReason: 'auth_required' as const, text: '' }
  const finishReason = how as 'stop' | 'rejected' | 'input_required'
  return {
    finishReason,
    message: [{ type: 'text', text: `about ${how}`, metadata: { tone: 'calm' } }] as const,
  }
})

/** Asks for authorization without a word. */
const silent = agent('silent', () => ({ finishReason: 'auth_required' as const }))

/** Promises to answer with a message, and waits at a gate before it says anything. */
const brief = agent(
  'brief',
  async function* (input, { signal }) {
    const [gate = '', ...how] = textOf(input).split(' ')
    while (!gates.has(gate) && !signal.aborted) await sleep(1)
    if (how.length > 0) {
      yield 'no message after all'
      return
    }
    const parts = [{ type: 'text', text: 'here it is', metadata: { tone: 'calm' } }] as const
    yield { type: 'message', parts, metadata: { asked: gate }, extensions: [CITATIONS] }
  },
  { answers: 'message' },
)

/** Says what it knows of its message. */
const knows = agent('knows', async function* (_input, context) {
  const { message, taskId, contextId, ...known } = contextOf(a2a, context) ?? {}
  const ids = [taskId === context.metadata?.taskId, contextId === context.metadata?.contextId]
  const sessionId = context.sessionId?.replace(contextId ?? '', '')
  yield {
    type: 'artifact',
    artifactId: 'known',
    parts: [{ type: 'data', data: { ...known, ids, sessionId } }],
  }
})

/** A team of two, of which the first word chooses one. */
const desk = new Team({
  name: 'desk',
  register: false,
  description: 'Sends on',
  examples: ['echo this'],
  members: [common.echo as Agent, knows],
  strategy: routeTo(input => textOf(input).split(' ')[0] ?? ''),
})

/** A workflow whose first step makes progress. */
const pipeline = new Workflow({
  name: 'pipeline',
  register: false,
  steps: steps()
    .step('gather', async function* (input: RunInput) {
      yield 'gathering'
      return textOf(input)
    })
    .step('tell', async function* (text: string) {
      yield `told ${text}`
      return text
    }),
})

const { gated, chatty } = followed
const usual = ['echo', 'parts', 'told', 'loud'] as const
const failing = ['throws-early', 'throws-late', 'leaks-keys', 'leaks-keys-agent', 'never-ends'] as const

export const agents: typeof common = {
  ...Object.fromEntries([...usual, ...failing].map(name => [name, common[name]!])),
  ...asking,
  gated,
  chatty,
  says,
  clerk,
  guarded,
  refuses,
  makes,
  mirror,
  keyed,
  alone,
  soon,
  slow,
  secretive,
  talks,
  silent,
  brief,
  knows,
}

export const teams = { desk }
export const workflows = { pipeline }

export { gates }
