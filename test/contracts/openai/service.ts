/** The service of the contract of OpenAI's interface. Every runtime serves it with a state of its own. */
import {
  Agent,
  parallel as all,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunEvent,
  type RunInput,
  type RunOptions,
  type State,
  Team,
  textOf,
  tool,
} from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { identify } from '../identify.ts'
import { paying, payTool } from '../protocol-agents.ts'

const add = tool({
  name: 'add',
  execute: args => {
    const { a, b } = args as { readonly a: number; readonly b: number }
    return { sum: a + b }
  },
})

/** Says something of every kind. */
const talks = new Agent({
  name: 'talks',
  register: false,
  async *run(input, { callTool }) {
    yield { type: 'thinking', text: 'Let me see.' }
    yield 'You said '
    yield `${textOf(input)}. `
    const { sum } = (yield* callTool(add, { a: 1, b: 2 })) as { readonly sum: number }
    yield `It is ${sum}.`
    return { usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7 } }
  },
})

/** Tells what was said before, and who remembers it. */
const recalls = new Agent({
  name: 'recalls',
  register: false,
  async run(input, { memory, history = [], sessionId = 'none' }) {
    const turns = (await memory?.session()?.read()) ?? []
    const before = [...turns, ...history].map(message => {
      const { role, content } = message as { readonly role: string; readonly content?: RunInput }
      return `${role[0]}:${content === undefined ? '-' : textOf(content)}`
    })
    // Of many the ends do.
    const told = before.length > 8 ? [...before.slice(0, 2), `${before.length}`, ...before.slice(-2)] : before
    return `${told.join('|')} > ${textOf(input)} in ${sessionId}`
  },
})

/** What has become of runs, by their inputs. */
const fates = new Map<string, string>()
const counts = new Map<string, number>()
const gates = new Set<string>()

/** Says a word, waits for the gate of its input, and says the rest. */
const gated = new Agent({
  name: 'gated',
  register: false,
  async *run(input, { signal }) {
    const name = textOf(input)
    fates.set(name, 'started')
    signal.addEventListener('abort', () => void fates.set(name, 'stopped'))
    yield { type: 'thinking', text: 'Hm.' }
    yield 'First '
    while (!gates.has(name) && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 10))
    yield 'and last.'
    if (!signal.aborted) fates.set(name, 'ended')
  },
})

/** Says one word after the other until it is left: a runtime notices a closed connection when it writes. */
const chatters = new Agent({
  name: 'chatters',
  register: false,
  async *run(input, { signal }) {
    signal.addEventListener('abort', () => void fates.set(textOf(input), 'stopped'))
    while (!signal.aborted) {
      yield 'First '
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  },
})

const opens = new Agent({ name: 'opens', register: false, run: input => void gates.add(textOf(input)) })

/** What came of the run with an input: its fate, and how often it ran. */
const tells = new Agent({
  name: 'tells',
  register: false,
  run: input => `${fates.get(textOf(input)) ?? counts.get(textOf(input)) ?? 'unknown'}`,
})

/** Counts its runs. */
const counting = new Agent({
  name: 'counting',
  register: false,
  run: input => `run ${count(textOf(input))}`,
})

function count(name: string): number {
  const times = (counts.get(name) ?? 0) + 1
  counts.set(name, times)
  return times
}

const fails = new Agent({
  name: 'fails',
  register: false,
  async *run(input) {
    count(textOf(input))
    yield 'Half'
    throw new Error('text of the vault')
  },
})

const weighs = new Agent({
  name: 'weighs',
  register: false,
  output: { type: 'object' },
  async *run() {
    yield 'I weigh. '
    return { structured: { grams: 12 } }
  },
})

const pay = payTool(amount => count(`paid ${amount}`))

const pays = paying(pay)

const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    yield 'A shirt. '
    yield `It is ${yield* ask('size', { message: 'Which size?', schema: { type: 'string' } })}.`
  },
})

/** Calls every tool of its client at once, and says what they gave. */
const paints = {
  async *stream(
    _: RunInput,
    { clientTools = [], answers = [], runId }: RunOptions = {},
  ): AsyncGenerator<RunEvent> {
    const given: unknown[] = []
    const requests = []
    for (const { name } of clientTools) {
      const id = `${runId}/client:${name}`
      const answer = answers.find(each => each.id.endsWith(`/client:${name}`))
      const toolCallId = `call of ${name}`
      yield { type: 'tool_call_start', toolCall: { id: toolCallId, name } }
      yield { type: 'tool_call_delta', toolCallId, argumentsDelta: '{"hue":"warm"}' }
      yield { type: 'tool_call_ready', toolCallId }
      if (answer === undefined) {
        const args = { hue: 'warm' }
        requests.push({ id, kind: 'client_tool', toolCallId, toolName: name, args, digest: 'd' } as const)
        continue
      }
      const result = 'result' in answer ? answer.result : 'nothing'
      yield { type: 'tool_call_end', toolCallId, result }
      given.push(result)
    }
    if (requests.length > 0) return void (yield { type: 'finish', finishReason: 'input_required', requests })
    yield { type: 'text', text: `Given ${JSON.stringify(given)}` }
    yield { type: 'finish', finishReason: 'stop' }
  },
}

/** What a client sent beside its messages. */
const facts = new Agent({
  name: 'facts',
  register: false,
  run: (_, { metadata }) => JSON.stringify(metadata),
})

const desk = new Team({ name: 'desk', register: false, members: [talks], strategy: all })

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    registry: false,
    agents: {
      ...{
        talks,
        recalls,
        gated,
        chatters,
        opens,
        tells,
        counting,
        fails,
        weighs,
        pays,
        asks,
        paints,
        facts,
      },
      desk: talks,
    },
    teams: { desk },
    state,
    limits: { maxBodyBytes: 2 * 1024 * 1024 },
    middleware: [identify],
    plugins: [openai()],
    ...more,
  })
}
