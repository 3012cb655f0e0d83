/** Agents for stored runs, in addition to those of the HTTP contract. */
import * as v from 'valibot'
import { Agent, type AgentConfig, type CorrectionStore, type RunInput, textOf } from '../../../src/index.ts'
import { agents as common } from '../fixture/agents.ts'
import { notes, sleep } from '../fixture/record.ts'

/** The gates that tests have opened. */
export const gates = new Set<string>()

const agent = (name: string, run: AgentConfig['run']): Agent => new Agent({ name, run, register: false })

/** Speaks, waits for the gate in its input, and speaks again. Notes its start and that its signal fired. */
const gated = agent('gated', async function* (input, { signal }) {
  const gate = textOf(input)
  notes.push(`${gate} started`)
  signal.addEventListener('abort', () => notes.push(`${gate} stopped`))
  yield 'before '
  while (!gates.has(gate) && !signal.aborted) await sleep(10)
  yield 'after'
})

/** The same, but it also speaks while it waits. */
const chatty = agent('chatty', async function* (input, { signal }) {
  const gate = textOf(input)
  notes.push(`${gate} started`)
  signal.addEventListener('abort', () => notes.push(`${gate} stopped`))
  yield 'before '
  while (!gates.has(gate) && !signal.aborted) {
    await sleep(10)
    yield '.'
  }
  yield ' after'
})

/** Gives the number of events in its input, and pauses for other work now and then. */
const counts = agent('counts', async function* (input) {
  const count = Number(textOf(input))
  for (let index = 1; index <= count; index++) {
    yield `${index} of ${count} – größer, 日本, 😀\n\n`
    if (index % 20 === 0) await sleep(1)
  }
})

/** Gives events until it is stopped. */
const ticks = agent('ticks', async function* (input, { signal }) {
  notes.push(`${textOf(input)} started`)
  for (let index = 1; !signal.aborted; index++) {
    yield `tick ${index} `
    await sleep(1)
  }
})

/** The phrase that the large texts repeat. Four of its characters have more than one byte in UTF-8. */
const PHRASE = 'x: é, 日, 😀; '

/** A text of this many UTF-16 units. */
export function textOfLength(length: number): string {
  return PHRASE.repeat(Math.ceil(length / PHRASE.length)).slice(0, length)
}

export const LARGE = { texts: 3, length: 1_048_576, words: 2000 } as const

/** Gives a few large events and many small ones: more than 3 MB. */
const large = agent('large', async function* () {
  for (let index = 0; index < LARGE.texts; index++) yield textOfLength(LARGE.length)
  for (let index = 0; index < LARGE.words; index++) yield `word ${index} `
})

/** A short summary of a large input. */
export function measure(text: string): { length: number; sum: number } {
  let sum = 0
  for (let index = 0; index < text.length; index++) sum = (sum * 31 + text.charCodeAt(index)) % 1_000_003
  return { length: text.length, sum }
}

const measures = agent('measures', (input: RunInput) => ({ structured: measure(JSON.stringify(input)) }))

const asks = agent('asks', async function* () {
  yield 'which city?'
  return { finishReason: 'input_required' as const }
})

const corrected = (name: string, corrections: true | CorrectionStore) =>
  new Agent({ name, run: () => 'Oslo', corrections, register: false })

const corrections = {
  corrected: corrected('corrected', true),
  'corrected-too': corrected('corrected-too', true),
  'corrected-by-itself': corrected('corrected-by-itself', {
    add: ({ field }) => void notes.push(`corrected ${field}`),
  }),
}

/** Repeats what it remembers of the session, and remembers its input. */
export const remembers: Agent = new Agent({
  name: 'remembers',
  register: false,
  async run(input, { memory }) {
    const session = memory?.session(remembers)
    if (session === undefined) return 'nothing'
    const before = await session.read()
    await session.append([textOf(input)])
    return before.join(',')
  },
})

/**
 * Does what its input says, and waits for the gate that comes after that: `says` speaks, `fails` fails then, `turns` and `read`
 * give what its session holds.
 */
export const talks: Agent = new Agent({
  name: 'talks',
  register: false,
  async *run(input, { memory, signal }) {
    const [act = '', gate] = textOf(input).split(' ')
    const session = memory?.session()
    if (act === 'turns') return JSON.stringify(await session?.turns())
    if (act === 'read') return JSON.stringify(await session?.read())
    yield `${act} `
    if (gate !== undefined) {
      notes.push(`${gate} started`)
      while (!gates.has(gate) && !signal.aborted) await sleep(10)
    }
    if (act === 'fails') throw new Error('It fails')
    return {}
  },
})

/** Pays what its input says, once it may, and asks where to send the receipt. Notes what it does. */
const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [
    {
      name: 'look',
      execute: ({ bill }: { bill: string }) => {
        notes.push(`looked ${bill}`)
        return { due: 5 }
      },
    },
    {
      name: 'pay',
      needsApproval: true,
      execute: ({ bill, amount }: { bill: string; amount: number }) => {
        notes.push(`paid ${amount} ${bill}`)
        return 'paid'
      },
    },
    {
      name: 'tip',
      needsApproval: true,
      editable: true,
      parameters: v.object({ amount: v.number('must be a number') }, 'must be given'),
      execute: ({ amount }: { amount: number }) => `tip ${amount}`,
    },
  ],
  async *run(input, { ask, callTool, parallel }) {
    const bill = textOf(input)
    const { due } = (yield* callTool('look', { bill })) as { due: number }
    yield `Due: ${due}. `
    yield `Done: ${yield* callTool('pay', { bill, amount: due })}. `
    const [where, tip] = yield* parallel([
      ask('where', { message: 'Where to?', schema: { type: 'string' } }),
      callTool('tip', { amount: 1 }),
    ])
    yield `Sent to ${String(where).slice(0, 100)}, ${String(tip)}.`
  },
})

/** Asks who asks, and says whose run it is. */
const knows = new Agent({
  name: 'knows',
  register: false,
  async *run(_, { ask, identity = 'nobody', userId = 'nobody', sessionId = 'none' }) {
    yield* ask('go')
    yield [identity, userId, sessionId].join()
  },
})

/** Says something after a call of a tool, and what it used. What it says to `fails` is nothing. */
const numbered = new Agent({
  name: 'numbered',
  register: false,
  model: { provider: 'provider-m', id: 'm-1' },
  tools: [{ name: 'look', execute: () => 'seen' }],
  async *run(input, { callTool }) {
    yield* callTool('look', {})
    yield* callTool('look', {})
    if (textOf(input) === 'fails') throw new Error('It fails')
    yield 'said'
    return { usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 } }
  },
})

export const agents = {
  ...common,
  numbered,
  pays,
  knows,
  ...corrections,
  gated,
  chatty,
  counts,
  ticks,
  large,
  measures,
  asks,
  remembers,
  talks,
  'remembers-too': remembers,
}
