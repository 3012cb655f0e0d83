/** Arguments that were edited before their call was approved, as each protocol tells them afterwards. */
import { describe, expect, it } from 'vitest'
import { Agent, createHandler, type HistoryMessage, memoryState, textOf } from '../../../src/index.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { runOf } from '../../../src/protocols/models/ids.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'

function service() {
  const gate = Promise.withResolvers<void>()
  const seen: HistoryMessage[][] = []
  const pays = new Agent({
    name: 'pays',
    register: false,
    tools: [
      {
        name: 'pay',
        needsApproval: true,
        editable: true,
        execute: async ({ amount }: { amount: number }) => {
          await gate.promise
          return `paid ${amount}`
        },
      },
    ],
    async *run(input, { callTool, parallel }) {
      yield 'I pay. '
      const amounts = textOf(input).split(' ').map(Number)
      yield String(yield* parallel(amounts.map(amount => callTool('pay', { amount }))))
    },
  })
  const recalls = new Agent({
    name: 'recalls',
    register: false,
    run(input, { history = [] }) {
      seen.push([...history])
      return textOf(input)
    },
  })
  const handler = createHandler({
    agents: { pays, recalls },
    registry: false,
    state: memoryState(),
    plugins: [aiSdkUi({ resume: true }), openai()],
  })
  const send = (path: string, body?: object, headers?: Record<string, string>) =>
    handler(new Request(`http://127.0.0.1${path}`, body && jsonRequest(body, headers)))
  /** Approves the first that a run asks, with another amount. */
  const approve = async (runId: string) => {
    const { requests } = await (await send(`/api/runs/${runId}`)).json()
    const answers = [{ id: requests[0].id, decision: 'approve', editedArgs: { amount: 61 } }]
    const { status } = await send(`/api/runs/${runId}/answers`, { answers }, { prefer: 'respond-async' })
    expect(status).toBeLessThan(300)
  }
  return { gate, seen, send, approve }
}

describe('edited arguments', () => {
  it('are told to a page of the AI SDK, in the place of those that it has', async () => {
    const { gate, send, approve } = service()
    const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: '120' }] }
    const asked = await send('/api/agents/pays/chat', { id: 'c', messages: [user] })
    const runId = asked.headers.get('x-run-id') ?? ''
    expect(await asked.text()).toContain('tool-approval-request')
    await approve(runId)
    const again = await send('/api/agents/pays/chat/c/stream')
    gate.resolve()
    const text = await again.text()
    const told = text
      .split('\n\n')
      .filter(line => line.startsWith('data: {'))
      .map(line => JSON.parse(line.slice('data: '.length)))
      .filter(({ type }) => /^tool-(input|output)-available$/.test(type))
    expect(told).toMatchObject([
      { type: 'tool-input-available', input: { amount: 120 } },
      { type: 'tool-input-available', input: { amount: 61 } },
      { type: 'tool-output-available', output: 'paid 61' },
    ])
    expect(new Set(told.map(({ toolCallId }) => toolCallId)).size).toBe(1)
  })

  it('are known to the response after one that was answered elsewhere', async () => {
    const { gate, seen, send, approve } = service()
    gate.resolve()
    const respond = async (body: object) => (await send('/v1/responses', body)).json()
    const asked = await respond({ model: 'pays', input: '120' })
    const runId = runOf(asked.id) ?? ''
    await approve(runId)
    await eventually(async () => {
      const { continuedBy } = await (await send(`/api/runs/${runId}`)).json()
      expect(await (await send(`/api/runs/${continuedBy}`)).json()).toMatchObject({ status: 'completed' })
    })
    await respond({ model: 'recalls', input: 'And?', previous_response_id: asked.id })
    const said = JSON.stringify(seen.at(-1))
    expect(said).toContain('"args":{"amount":61}')
    expect(said).toContain('paid 61')
    expect(said).not.toContain('"amount":120')
  })

  it('are those of the call in a response, and in what the next one knows', async () => {
    const { gate, seen, send, approve } = service()
    gate.resolve()
    const respond = async (body: object) => (await send('/v1/responses', body)).json()
    const asked = await respond({ model: 'pays', input: '120 7' })
    const runId = runOf(asked.id) ?? ''
    await approve(runId)
    const [, second] = asked.output.filter(({ type }: Item) => type === 'mcp_approval_request')
    const input = [{ type: 'mcp_approval_response', approval_request_id: second.id, approve: true }]
    const done = await respond({ model: 'pays', input, previous_response_id: asked.id })
    const calls = done.output.filter(({ type }: Item) => type === 'mcp_call')
    expect(calls.map((call: Item) => [call.arguments, call.output]).toSorted()).toEqual([
      ['{"amount":61}', 'paid 61'],
      ['{"amount":7}', 'paid 7'],
    ])
    await respond({ model: 'recalls', input: 'And?', previous_response_id: done.id })
    const told = seen.at(-1)?.flatMap(message => ('toolCalls' in message && message.toolCalls) || [])
    expect(told?.map(({ args }) => args)).toEqual([{ amount: 61 }, { amount: 7 }])
  })
})

interface Item {
  readonly type: string
  readonly arguments?: string
  readonly output?: string
}
