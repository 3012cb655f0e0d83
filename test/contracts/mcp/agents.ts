/** The agents of the contract of MCP. Each shows one thing that its clients are told. None needs a model. */
import {
  Agent,
  parallel as atOnce,
  type ContentPart,
  ServableError,
  Team,
  textOf,
  Workflow,
  type Yielded,
} from '../../../src/index.ts'
import { appPage } from '../../../src/protocols/mcp/plugin.ts'
import { agent, looks, paying, payTool, thinks } from '../protocol-agents.ts'

/** The page of the agent `maps`. */
export const MAP = '<!doctype html><title>A map</title>'

/** What has become of runs, by their inputs. */
const fates = new Map<string, string>()
const counts = new Map<string, number>()
const gates = new Set<string>()

function count(name: string): number {
  const times = (counts.get(name) ?? 0) + 1
  counts.set(name, times)
  return times
}

const pause = () => new Promise(resolve => setTimeout(resolve, 10))

/** Says a word, waits for the gate of its input, and says the rest. */
const gated = agent('gated', async function* (input, { signal }) {
  const name = textOf(input)
  fates.set(name, 'started')
  signal.addEventListener('abort', () => void fates.set(name, 'stopped'))
  yield 'First '
  while (!gates.has(name) && !signal.aborted) await pause()
  yield 'and last.'
  if (!signal.aborted) fates.set(name, 'ended')
})

/** Says one word after the other until it is left: a runtime notices a closed connection when it writes. */
const chatters = agent('chatters', async function* (input, { signal }) {
  signal.addEventListener('abort', () => void fates.set(textOf(input), 'stopped'))
  while (!signal.aborted) {
    yield 'word '
    await pause()
  }
})

const opens = agent('opens', input => void gates.add(textOf(input)))

/** What came of the run with an input: its fate, or how often something was done. */
const tells = agent('tells', input => `${fates.get(textOf(input)) ?? counts.get(textOf(input)) ?? 'unknown'}`)

/** Tells what was said before in its session. */
const recalls = agent('recalls', async (input, { memory, sessionId = 'none' }) => {
  const turns = ((await memory?.session()?.read()) ?? []) as readonly { readonly content?: string }[]
  return `${turns.length} before ${textOf(input)} in ${sessionId}`
})

/** Says who asks. */
const knows = agent('knows', (_, { userId = 'nobody' }) => userId)

const RED = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

/** What a run says that is no text. */
export const PARTS: readonly ContentPart[] = [
  { type: 'image', data: RED, mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'file', data: 'UklGRg==', mimeType: 'text/csv', filename: 'a b.csv' },
  { type: 'file', data: 'data:text/plain;base64,UklGRg==', mimeType: 'text/plain' },
  { type: 'image', data: 'https://example.com/red.png', mimeType: 'image/png' },
  { type: 'data', data: { grams: 12 } },
]

const shows = agent('shows', function* () {
  yield 'I show. '
  yield { type: 'message', parts: [...PARTS] }
  yield {
    type: 'artifact',
    artifactId: 'sheet',
    name: 'Sheet',
    parts: [{ type: 'text', text: 'of an artifact' }],
  }
  yield 'Shown.'
})

/** Makes a file that is not kept in the log of its run. */
const writes = agent('writes', function* () {
  const data = 'QUFB'.repeat(2000)
  yield { type: 'message', parts: [{ type: 'file', data, mimeType: 'text/csv', filename: 'a b.csv' }] }
})

const GRAMS = {
  type: 'object',
  properties: { grams: { type: 'number' } },
  required: ['grams'],
}

/** Gives its structured output, unless its input is `nothing`. */
const weighs = new Agent({
  name: 'weighs',
  description: 'Weighs things',
  register: false,
  output: GRAMS,
  async *run(input) {
    yield 'I weigh. '
    return textOf(input) === 'nothing' ? {} : { structured: { grams: 12 } }
  },
})

/** Fails as its input says. */
const fails = agent('fails', function* (input) {
  yield 'Half'
  if (textOf(input) === 'told') throw new ServableError('invalid_input', 'Only whole numbers are taken')
  throw new Error('text of the vault')
})

const refuses = agent('refuses', function* () {
  yield 'Not from here'
  yield { type: 'finish', finishReason: 'rejected' }
})

/** Says what no run may say. */
const breaks = agent('breaks', function* () {
  yield { type: 'no such event' } as unknown as Yielded
})

const pay = payTool(amount => count(`paid ${amount}`))

const asks = agent('asks', async function* (_, { ask }) {
  yield 'A shirt. '
  yield `It is ${yield* ask('size', { message: 'Which size?', schema: { type: 'string' } })}.`
})

const form = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
})

/** Asks one question after the other. */
const asksTwice = agent('asksTwice', async function* (input, { ask }) {
  const { name } = (yield* ask('name', { message: 'Your name?', schema: form('name') })) as { name: string }
  const { hue } = (yield* ask('hue', { message: 'Your hue?', schema: form('hue') })) as { hue: string }
  yield `${name} likes ${hue}, for ${textOf(input)}`
})

/** Asks two questions at once. */
const asksBoth = agent('asksBoth', async function* (_, { ask, parallel }) {
  const answers = yield* parallel([
    ask('left', { message: 'Left?', schema: form('left') }),
    ask('right', { message: 'Right?', schema: form('right') }),
  ])
  yield JSON.stringify(answers)
})

/** Goes from step to step, each at the gate of its name. */
const steps = agent('steps', async function* (input, { step }) {
  for (const name of ['First', 'Second'])
    yield* step(name, async ({ signal }) => {
      while (!gates.has(`${name} of ${textOf(input)}`) && !signal.aborted) await pause()
    })
  yield 'Done'
})

/** Its results have a page. */
const maps = new Agent({
  name: 'maps',
  register: false,
  page: appPage({ uri: 'ui://maps', html: MAP, csp: { connectDomains: ['https://tiles.example.com'] } }),
  run: input => ({ text: `A map of ${textOf(input)}`, structured: { place: textOf(input) } }),
})

/** Says what it got as arguments. */
const echoes = agent('echoes', input => JSON.stringify(input))

const desk = new Team({ name: 'desk', register: false, members: [thinks], strategy: atOnce })

const flow = new Workflow({
  name: 'flow',
  register: false,
  async *run(input, { step }) {
    yield yield* step('repeat', () => `Repeated ${textOf(input)}`)
  },
})

/** Goes on after its process was killed, once its service was started as a later one. */
const resumes = (isLater: boolean) =>
  new Agent({
    name: 'resumes',
    register: false,
    resume: true,
    async *run(input, { step, signal }) {
      const name = textOf(input)
      const before = yield* step('before', () => `before of ${isLater ? 'later' : 'first'}`)
      fates.set(name, 'started')
      while (!isLater && !signal.aborted) await pause()
      yield `${before}, ${isLater ? 'later' : 'first'} for ${name}`
    },
  })

/** All of them. `isLater`: the service was started again. */
export function agentsOf(isLater: boolean) {
  return {
    agents: {
      ...{ thinks, looks, gated, chatters, opens, tells, recalls, knows, shows, writes, weighs, fails },
      ...{ refuses, breaks, pays: paying(pay), asks, asksTwice, asksBoth, steps, echoes, maps },
      resumes: resumes(isLater),
      'odd.name': thinks,
    },
    teams: { desk },
    workflows: { flow },
  }
}
