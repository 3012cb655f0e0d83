/** The servables of the contract of chats: each does one thing that a page shows. None needs a model. */
import {
  type Agent,
  type RunEvent,
  type RunInput,
  type RunOptions,
  requestOf,
  type ServableAgent,
  steps,
  Team,
  textOf,
  Workflow,
  type Yielded,
} from '../../../src/index.ts'
import { agent, called, looks, payingAgents, thinks } from '../protocol-agents.ts'

type Said = Generator<Yielded> | AsyncGenerator<Yielded>

const says = agent('says', function* (input) {
  yield 'Hello, '
  yield `${textOf(input)}!`
})

/** Says the pieces one turn of the loop after the other, so that others speak in between. */
const slowly = (name: string, ...pieces: Yielded[]): Agent =>
  agent(name, async function* (): Said {
    for (const piece of pieces) {
      await new Promise(resolve => setTimeout(resolve))
      yield piece
    }
  })

/** Two members who speak at once, and make calls meanwhile. */
const crew: Team = new Team({
  name: 'crew',
  register: false,
  members: [
    slowly('left', 'l1 ', ...called('left-1', 'count', ['{"to":', '1}']), 'l2 ', {
      type: 'tool_call_end',
      toolCallId: 'left-1',
      result: 1,
    }),
    slowly('right', 'r1 ', ...called('right-1', 'count', ['{"to":', '2}']), 'r2 ', {
      type: 'tool_call_end',
      toolCallId: 'right-1',
      result: 2,
    }),
  ],
  async *strategy(input, { call, parallel }) {
    yield* parallel([call('left', input), call('right', input)])
    yield 'Both are done.'
  },
})

const counts: Workflow = new Workflow({
  name: 'counts',
  register: false,
  steps: steps()
    .step('split', input => textOf(input).split(' '))
    .step('count', async function* (words) {
      yield `${words.length} `
      yield 'words'
    }),
})

/** One file in two chunks, one whole picture, and data. */
const draws = agent('draws', function* () {
  yield 'Drawn: '
  yield {
    type: 'artifact',
    artifactId: 'notes',
    name: 'notes.txt',
    parts: [{ type: 'text', text: 'one, ' }],
  }
  yield {
    type: 'artifact',
    artifactId: 'notes',
    parts: [{ type: 'text', text: 'two' }],
    append: true,
    lastChunk: true,
  }
  yield {
    type: 'artifact',
    artifactId: 'dot',
    name: 'dot.png',
    parts: [{ type: 'image', data: DOT, mimeType: 'image/png' }],
  }
  yield {
    type: 'artifact',
    artifactId: 'numbers',
    parts: [{ type: 'data', data: { numbers: [1, 2] } }],
  }
})

/** A picture of one dot. */
export const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const USAGE = { promptTokens: 3, completionTokens: 4, totalTokens: 7, cost: 0.25 }

const weighs = agent('weighs', async () => ({ text: 'Weighed.', structured: { grams: 12 }, usage: USAGE }))

const refuses = agent('refuses', () => {
  throw new Error('a secret of the server')
})

/** Fails the first time that it is told something. */
const tried = new Set<string>()
const flaky = agent('flaky', function* (input) {
  const said = textOf(input)
  yield `Try of ${said}.`
  const isFirst = !tried.has(said)
  tried.add(said)
  if (!isFirst) return
  throw new Error('a secret of the server')
})

const breaks = agent('breaks', function* () {
  yield 'Half of '
  yield* called('call-1', 'weather', ['{"place":'])
  throw new Error('a secret of the server')
})

/** Waits until its signal fires, and tells what its signal did under the name in its input. */
const heard = new Map<string, 'started' | 'stopped'>()
const waits = agent('waits', async function* (input, { signal }) {
  const name = textOf(input)
  heard.set(name, 'started')
  yield 'I wait. '
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve))
  heard.set(name, 'stopped')
})

/** What came of the run that waits under a name. */
const tells = agent('tells', input => heard.get(textOf(input)) ?? 'unknown')

/** Says a word, waits for its gate, and says the rest. Gates are opened by name. */
const gates = new Set<string>()
async function opened(gate: string, signal?: AbortSignal): Promise<void> {
  heard.set(gate, 'started')
  while (!gates.has(gate) && !signal?.aborted) await new Promise(resolve => setTimeout(resolve, 10))
  if (signal?.aborted) heard.set(gate, 'stopped')
}
const gated = agent('gated', async function* (input, { signal }) {
  yield 'First '
  yield { type: 'thinking', text: 'Hm.' }
  yield* called('call-1', 'weather', ['{"place":"Rome"}'])
  yield { type: 'tool_call_ready', toolCallId: 'call-1', args: { place: 'Rome' } }
  await opened(textOf(input), signal)
  yield { type: 'tool_call_end', toolCallId: 'call-1', result: 'sunny' }
  yield 'and last.'
})
const { pay, pays, paid } = payingAgents()

/** Asks, waits for the gate of its input, and says the rest. */
const ships = agent(
  'ships',
  async function* (input, { ask, callTool, signal }) {
    const isPaid = textOf(input).startsWith('paid')
    yield 'I ship. '
    const answer = isPaid ? yield* callTool(pay, { amount: 5 }) : yield* ask('size')
    yield `${answer}: `
    await opened(textOf(input), signal)
    yield 'done.'
  },
  [pay],
)
const opens = agent('opens', input => {
  gates.add(textOf(input))
})

/** Tells what the user said before, and what the user says now. */
const remembers = agent('remembers', async (input, { memory, history = [] }) => {
  const turns = (await memory?.session()?.read()) ?? []
  const before = [...turns, ...history].flatMap(message => {
    const { role, content } = message as { role?: unknown; content?: unknown }
    return role === 'user' ? [String(content)] : []
  })
  return `${before.join(', ')} > ${textOf(input)}`
})

const asks = agent('asks', async function* (_, { ask }) {
  yield 'A shirt. '
  const size = yield* ask('size', { message: 'Which size?', schema: { type: 'string' } })
  yield `It is ${size}.`
})

/** Calls the first tool of the client, as agents of other developers do, and says what the client gave. */
const paints: ServableAgent = {
  kind: 'agent',
  name: 'paints',
  run: () => Promise.reject(new Error('it streams')),
  stream: paint,
}

async function* paint(input: RunInput, options: RunOptions = {}): AsyncGenerator<RunEvent> {
  const { clientTools = [], answers = [], runId, signal } = options
  const [offered] = clientTools
  if (offered === undefined) return void (yield { type: 'text', text: 'Nobody offers a tool.' })
  const toolCall = { id: 'paint-1', name: offered.name }
  const answer = answers.find(({ id }) => id.endsWith('client_tool:color'))
  if (answer === undefined) yield { type: 'text', text: 'Which color? ' }
  yield { type: 'tool_call_start', toolCall }
  yield { type: 'tool_call_delta', toolCallId: toolCall.id, argumentsDelta: '{"of":"wall"}' }
  if (answer === undefined) {
    const request = await requestOf({
      id: `${runId}/client_tool:color`,
      kind: 'client_tool',
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      args: { of: 'wall' },
    })
    return void (yield { type: 'finish', finishReason: 'input_required', requests: [request] })
  }
  const result = 'result' in answer ? answer.result : undefined
  yield { type: 'tool_call_end', toolCallId: toolCall.id, result }
  yield { type: 'text', text: 'Painted ' }
  if (textOf(input).startsWith('picked')) await opened(textOf(input), signal)
  yield { type: 'text', text: `${result}.` }
  yield { type: 'finish', finishReason: 'stop' }
}

export const agents: Readonly<Record<string, ServableAgent>> = {
  says,
  thinks,
  looks,
  draws,
  weighs,
  refuses,
  breaks,
  flaky,
  waits,
  tells,
  gated,
  ships,
  opens,
  remembers,
  pays,
  paid,
  asks,
  paints,
}
export const teams: Readonly<Record<string, Team>> = { crew }
export const workflows: Readonly<Record<string, Workflow>> = { counts }
