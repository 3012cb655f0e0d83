/** What the next response is told of one whose run waited for a client or a person. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type HistoryMessage,
  memoryState,
  type RunEvent,
  type RunInput,
  type RunOptions,
  textOf,
  tool,
} from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

interface Item {
  readonly id: string
  readonly type: string
  readonly call_id?: string
}

interface Told {
  readonly id: string
  readonly output: readonly Item[]
}

const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })

/** Says a word, and calls the tool of its client. Once that is answered it tells nothing of the call again, as models do. */
const picks = {
  async *stream(_: RunInput, { answers = [], runId }: RunOptions = {}): AsyncGenerator<RunEvent> {
    if (answers.length > 0) {
      yield { type: 'text', text: 'Picked.' }
      return void (yield { type: 'finish', finishReason: 'stop' })
    }
    const call = { toolCallId: 'call-1', toolName: 'hue', args: {} }
    yield { type: 'text', text: 'I pick. ' }
    yield { type: 'tool_call_start', toolCall: { id: 'call-1', name: 'hue' }, isClientTool: true }
    yield { type: 'tool_call_ready', toolCallId: 'call-1', args: {} }
    const request = { id: `${runId}/client:1`, kind: 'client_tool', ...call, digest: 'd' } as const
    yield { type: 'finish', finishReason: 'input_required', requests: [request] }
  },
}

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield 'I pay. '
    yield yield* callTool(pay, {})
  },
})

const seen: HistoryMessage[][] = []
const recalls = new Agent({
  name: 'recalls',
  register: false,
  run(input, { history = [] }) {
    seen.push([...history])
    return textOf(input)
  },
})

const handler = createHandler({
  registry: false,
  agents: { picks, pays, recalls },
  state: memoryState(),
  plugins: [openai()],
})

async function create(model: string, input: unknown, previous?: string): Promise<Told> {
  const tools = [{ type: 'function', name: 'hue' }]
  const answer = await handler(
    new Request(
      'http://localhost/v1/responses',
      jsonRequest({ model, input, tools, previous_response_id: previous }),
    ),
  )
  expect(answer.status).toBe(200)
  return (await answer.json()) as Told
}

const call = { toolCallId: 'call-1', toolName: 'hue', args: {} }
const PICKED = [
  { role: 'user', content: 'Pick' },
  { role: 'assistant', toolCalls: [call] },
  { role: 'tool', toolCallId: 'call-1', toolName: 'hue', result: 'red' },
  { role: 'assistant', content: 'I pick. ' },
  { role: 'assistant', content: 'Picked.' },
]

/** A response, and the one that goes on with the result of its call. */
async function picked() {
  const first = await create('picks', 'Pick')
  const { call_id } = first.output.find(({ type }) => type === 'function_call') ?? {}
  const output = { type: 'function_call_output', call_id, output: 'red' }
  return { first, output, second: await create('picks', [output], first.id) }
}

describe('a response after one that was answered', () => {
  it('knows the result that a client gave', async () => {
    const { second } = await picked()
    await create('recalls', 'And?', second.id)
    expect(seen.at(-1)).toEqual(PICKED)
  })

  it('knows it also by references to the items', async () => {
    const { first, output, second } = await picked()
    const named = (items: readonly Item[]) => items.map(({ id }) => ({ type: 'item_reference', id }))
    const user = (content: string) => ({ role: 'user', content })
    await create('recalls', [
      user('Pick'),
      ...named(first.output),
      output,
      ...named(second.output),
      user('And?'),
    ])
    expect(seen.at(-1)).toEqual(PICKED)
  })

  it('has the result of an approved call next to the call', async () => {
    const asked = await create('pays', 'Pay')
    const answers = asked.output
      .filter(({ type }) => type === 'mcp_approval_request')
      .map(({ id }) => ({ type: 'mcp_approval_response', approval_request_id: id, approve: true }))
    const { id } = await create('pays', answers, asked.id)
    await create('recalls', 'And?', id)
    const roles = seen.at(-1)?.map(message => ('toolCalls' in message ? 'calls' : message.role))
    expect(roles).toEqual(['user', 'calls', 'tool', 'assistant', 'assistant'])
  })
})
