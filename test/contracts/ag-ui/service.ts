/** The service of the contract of AG-UI. Every runtime serves it with a state of its own. */

import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  parallel,
  type RunEvent,
  type RunInput,
  type RunOptions,
  type State,
  Team,
  textOf,
  tool,
  Workflow,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { identify } from '../identify.ts'

const add = tool({
  name: 'add',
  execute: args => {
    const { a, b } = args as { readonly a: number; readonly b: number }
    return { sum: a + b }
  },
})

const pay = tool({
  name: 'pay',
  parameters: { type: 'object', properties: { amount: { type: 'number' } } },
  needsApproval: true,
  editable: true,
  execute: args => `paid ${(args as { readonly amount: number }).amount}`,
})

/** Says something of every kind. */
const talks = new Agent({
  name: 'talks',
  register: false,
  output: { type: 'object' },
  async *run(input, { callTool, step }) {
    yield { type: 'thinking', text: 'Let me see. ' }
    yield { type: 'thinking', text: 'A sum.' }
    yield 'You said '
    yield `${textOf(input)}. `
    yield { type: 'artifact', artifactId: 'state', parts: [{ type: 'data', data: { count: 1 } }] }
    const change = [{ op: 'replace', path: '/count', value: 2 }]
    yield { type: 'artifact', artifactId: 'state', append: true, parts: [{ type: 'data', data: change }] }
    const { sum } = (yield* callTool(add, { a: 1, b: 2 })) as { readonly sum: number }
    yield* step('think it over', () => 'done')
    yield `It is ${sum}.`
    yield { type: 'artifact', artifactId: 'sum', name: 'Sum', parts: [{ type: 'text', text: `${sum}` }] }
    return {
      structured: { sum },
      usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, cost: 0.25 },
    }
  },
})

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(input, { callTool }) {
    yield 'I ask. '
    try {
      yield `I have ${yield* callTool(pay, { amount: Number(textOf(input)) })}.`
    } catch (error) {
      yield `I have not: ${(error as Error).message}`
    }
  },
})

/** Asks a question, and for an approval at once. */
const orders = new Agent({
  name: 'orders',
  register: false,
  tools: [pay],
  async *run(_, { ask, callTool, parallel: all }) {
    const schema = { type: 'string', enum: ['S', 'M'] }
    const [paid, size] = yield* all([
      callTool(pay, { amount: 5 }),
      ask('size', { message: 'Which size?', schema }),
    ])
    yield `${paid} in ${size}`
  },
})

/** Calls a tool of its client. */
const paints = {
  async *stream(
    _: RunInput,
    { clientTools = [], answers = [], runId }: RunOptions = {},
  ): AsyncGenerator<RunEvent> {
    const name = clientTools[0]?.name ?? 'none'
    const [answer] = answers
    const toolCallId = 'call-1'
    yield { type: 'tool_call_start', toolCall: { id: toolCallId, name } }
    yield { type: 'tool_call_delta', toolCallId, argumentsDelta: '{"hue":"warm"}' }
    yield { type: 'tool_call_ready', toolCallId }
    if (answer === undefined) {
      const request = {
        id: `${runId}/client:${name}`,
        kind: 'client_tool',
        toolCallId,
        toolName: name,
      } as const
      const requests = [{ ...request, args: { hue: 'warm' }, digest: 'd' }]
      yield { type: 'finish', finishReason: 'input_required', requests }
      return
    }
    const result = 'result' in answer ? answer.result : 'none'
    yield { type: 'tool_call_end', toolCallId, result }
    yield { type: 'text', text: `It is ${JSON.stringify(result)}` }
    yield { type: 'finish', finishReason: 'stop' }
  },
}

/** Tells what it knows of what was said before, and which message it answers again. */
const recalls = new Agent({
  name: 'recalls',
  register: false,
  async run(input, { memory, history = [], sessionId = 'no session', replaces }) {
    const before = await memory?.session()?.read()
    const who = before === undefined ? `its client tells ${history.length}` : `it remembers ${before.length}`
    return `${textOf(input)}: ${who} in ${sessionId}${replaces ? ` from ${replaces}` : ''}`
  },
})

const facts = new Agent({
  name: 'facts',
  register: false,
  run: (_, { metadata }) => JSON.stringify(metadata),
})

const fails = new Agent({
  name: 'fails',
  register: false,
  async *run() {
    yield 'Half'
    throw new Error('text of the vault')
  },
})

const left: string[] = []

/** Waits until it is left, and notes that. */
const waits = new Agent({
  name: 'waits',
  register: false,
  async *run(input, { signal }) {
    signal.addEventListener('abort', () => void left.push(textOf(input)))
    yield 'I wait'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

const wasLeft = new Agent({
  name: 'was-left',
  register: false,
  run: input => String(left.includes(textOf(input))),
})

const speaks = (name: string, words: string) =>
  new Agent({
    name,
    register: false,
    async *run(_, { callTool }) {
      yield `${words} `
      yield* callTool(add, { a: 1, b: 1 })
      yield 'there'
    },
  })

const pair = new Team({
  name: 'pair',
  register: false,
  members: [speaks('ann', 'Hello'), speaks('bob', 'Hi')],
  strategy: parallel,
})

const flow = new Workflow({
  name: 'flow',
  register: false,
  async *run(_, { step, parallel: all }) {
    yield* all([step('look', () => 1), step('look', () => 2)])
    yield 'done'
  },
})

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    agents: { talks, pays, orders, paints, recalls, facts, fails, waits, 'was-left': wasLeft },
    teams: { pair },
    workflows: { flow },
    registry: false,
    state,
    middleware: [identify],
    plugins: [agUi()],
    ...more,
  })
}
