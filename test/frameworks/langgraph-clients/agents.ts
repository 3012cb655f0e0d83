/** Serves the agents of the checks over LangGraph's interface: the same ones as in `../langgraph-server/graphs.ts`. */
import { setTimeout as wait } from 'node:timers/promises'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { Agent, bearerAuth, createHandler, memoryState, Registry, textOf, tool } from '../../../src/index.ts'
import { langGraph } from '../../../src/protocols/langgraph-api/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'

const words = (text: string) => text.split(/(?<= )/)

const getWeather = tool({
  name: 'get_weather',
  execute: args => `21C in ${(args as { readonly city: string }).city}`,
})

const pay = tool({
  name: 'pay',
  needsApproval: true,
  editable: true,
  execute: args => `paid ${(args as { readonly amount: number }).amount}`,
})

/** Says what it was told, and how many messages of the user there are. Asks a tool for the weather. */
const talks = new Agent({
  name: 'talks',
  register: false,
  async *run(input, { callTool, memory, step }) {
    const text = textOf(input)
    if (text.includes('weather')) {
      yield* step('asking Paris', () => true)
      yield* words(`It is ${yield* callTool(getWeather, { city: 'Paris' })}.`)
      return
    }
    const turns = (await memory?.session()?.turns()) ?? [input]
    yield* words(`You said ${text}, message ${turns.length}.`)
  },
})

/** Pays an amount, after an approval. */
const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(input, { callTool }) {
    try {
      yield* words(`I have ${yield* callTool(pay, { amount: Number(textOf(input)) })}.`)
    } catch (error) {
      yield* words(`I have not: ${(error as Error).message}`)
    }
  },
})

/** Asks for a size. */
const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(input, { ask }) {
    const schema = { type: 'string', enum: ['S', 'M'] }
    const size = yield* ask('size', { message: 'Which size?', schema })
    yield* words(`${textOf(input)} in ${size}.`)
  },
})

/** Fails in the middle of its answer. */
const fails = new Agent({
  name: 'fails',
  register: false,
  async *run() {
    yield 'Half '
    throw new Error('model exploded')
  },
})

/** Counts to the number in the message, 20 numbers a second. After `quiet` it says nothing for a while. */
const slow = new Agent({
  name: 'slow',
  register: false,
  async *run(input, { signal }) {
    const text = textOf(input)
    if (text === 'quiet') await wait(QUIET_MS, undefined, { signal })
    for (let at = 1; at <= (Number(text) || 1); at++) {
      await wait(50, undefined, { signal })
      yield `${at} `
    }
  },
})

/** Longer than two silences after which a stream has a comment. */
const QUIET_MS = 12_000

const handler = createHandler({
  serve: [talks, pays, asks, fails, slow],
  registry: new Registry(),
  state: memoryState(),
  middleware: [bearerAuth({ tokens: { ann: 'ann', bob: 'bob' } })],
  cors: true,
  ...(!globalThis.process.env.LOG && { logger: false as const }),
  plugins: [sessions(), langGraph()],
})

const server = await serve(handler, { port: Number(globalThis.process.env.PORT ?? 0) })
console.log(`listening ${server.url}`)
