/**
 * The service of the contract of guards. What clients say has no cards in it, and what agents say no passports: an agent repeats what it
 * hears, and has a passport of its own, in everything that can be told.
 */

import { guards, refuse } from '../../../src/features/guards/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunEvent,
  ServableError,
  type State,
  textOf,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { identify } from '../identify.ts'

/** What an agent knows, in two pieces. */
const PASSPORT = ['PP-123', '456'] as const

/** Repeats what it hears and what it remembers, and says its passport in every way. */
const clerk: Agent = new Agent({
  name: 'clerk',
  register: false,
  async *run(input, { memory, history }) {
    const [first, last] = PASSPORT
    const whole = first + last
    const session = memory?.session()
    const before = JSON.stringify((await session?.read()) ?? [])
    await session?.append([
      { role: 'user', content: textOf(input) },
      { role: 'assistant', content: `I am ${whole}` },
    ])
    yield `heard ${textOf(input)}.`
    yield { type: 'tool_call_start', toolCall: { id: 'call', name: 'look' } }
    yield { type: 'tool_call_delta', toolCallId: 'call', argumentsDelta: `{"who":"${first}` }
    yield { type: 'tool_call_delta', toolCallId: 'call', argumentsDelta: `${last}"}` }
    yield { type: 'tool_call_end', toolCallId: 'call', result: { found: [whole] } }
    yield { type: 'thinking', text: first }
    yield { type: 'thinking', text: last }
    yield { type: 'artifact', artifactId: 'file', parts: [{ type: 'data', data: { whole } }] }
    yield ` I am ${first}`
    yield last
    const structured = {
      whole,
      heard: `heard ${textOf(input)}`,
      before,
      history: JSON.stringify(history ?? []),
    }
    yield { type: 'finish', finishReason: 'stop', structured, message: whole }
  },
})

/** Says in capitals what it is told to, or what it remembers, in pieces. */
const speaker: Agent = new Agent({
  name: 'speaker',
  register: false,
  async *run(input, { memory }) {
    const session = memory?.session()
    const text = textOf(input)
    const said = text === 'recall' ? JSON.stringify(await session?.read()) : text
    await session?.append([{ role: 'assistant', content: text }])
    for (const word of said.toUpperCase().match(/\S+\s*/g) ?? []) yield word
  },
})

/** Asks for something, and repeats it. */
const asks: Agent = new Agent({
  name: 'asks',
  register: false,
  async *run(input, { ask }) {
    yield `heard ${textOf(input)}, then ${yield* ask('more', { message: 'PP-123456 asks' })}.`
  },
})

/** Fails with what it was told. */
const fails: Agent = new Agent({
  name: 'fails',
  register: false,
  run(): AsyncIterable<RunEvent> {
    throw new ServableError('invalid_input', 'PP-123456 is wrong')
  },
})

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    agents: { clerk, speaker, asks, fails },
    registry: false,
    logger: false,
    state,
    middleware: [identify],
    runs: { keepInput: true },
    a2a: { default: 'clerk' },
    gateway: true,
    plugins: [
      guards({
        onInput: [
          { mask: [{ pattern: /\b\d{4}-\d{4}\b/, with: '[card]' }] },
          async said => (JSON.stringify(said).includes('forbidden') ? refuse('Not about that') : undefined),
        ],
        onOutput: { mask: [{ pattern: /\bPP-\d{6}\b/, with: '[passport]' }], holdback: 16 },
        agents: {
          speaker: {
            async onOutput({ text }) {
              if (text.startsWith('[')) return undefined
              if (text.includes('BROKEN')) throw new Error('the vault is empty')
              if (text.includes('WORSE')) return 'Something better'
              return text.includes('BAD') ? refuse('Not to be said') : undefined
            },
          },
        },
      }),
      sessions(),
      mcp({ tools: ['clerk', 'speaker'] }),
      agUi(),
      aiSdkUi(),
      openai(),
    ],
    ...more,
  })
}
