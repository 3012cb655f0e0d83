import { expect, it } from 'vitest'
import type { RunEvent } from '../../../../src/agents/contract.ts'
import { EventSender, serverEventOf } from '../../../../src/protocols/event-socket/gateway/event-sender.ts'

/** What a client is sent of these events, when all of them come in one turn. */
function told(...events: readonly RunEvent[]): unknown[] {
  const sent: unknown[] = []
  const sender = new EventSender({
    runId: 'r',
    maxLength: 1000,
    after: 0,
    send: (event, payload, seq) => sent.push([event, payload, seq]),
  })
  for (const event of events) sender.push(event)
  return sent
}

const text = (said: string, agent?: string): RunEvent => ({
  type: 'text',
  text: said,
  ...(agent && { agent }),
})
const end: RunEvent = { type: 'finish', finishReason: 'stop' }
const done = { output: { text: 'abcde' }, finishReason: 'stop', runId: 'r' }

it('gathers the text of one turn, but for its first piece', () => {
  expect(told(text('a'), text('b'), text('cde'), end)).toEqual([
    ['agent.chunk', { chunk: 'a', runId: 'r' }, 1],
    ['agent.chunk', { chunk: 'bcde', runId: 'r' }, 3],
    ['agent.done', expect.objectContaining(done), 4],
  ])
})

it('says which member a text is from, and gathers nothing of two', () => {
  expect(
    told(text('a', 'one'), text('b', 'one'), text('c', 'one'), text('d', 'two'), text('e'), end),
  ).toEqual([
    ['agent.chunk', { chunk: 'a', agent: 'one', runId: 'r' }, 1],
    ['agent.chunk', { chunk: 'bc', agent: 'one', runId: 'r' }, 3],
    ['agent.chunk', { chunk: 'd', agent: 'two', runId: 'r' }, 4],
    ['agent.chunk', { chunk: 'e', runId: 'r' }, 5],
    ['agent.done', expect.objectContaining(done), 6],
  ])
})

it("a member's tool call says over the socket whose it is, and an agent's own does not", () => {
  const toolCall = { id: '1', name: 'add' }
  const start = { type: 'tool_call_start', toolCall } as const
  const end = { type: 'tool_call_end', toolCallId: '1', result: 3 } as const
  const told = { toolName: 'add', args: null, toolCallId: '1' }
  expect(serverEventOf(start)).toEqual(['agent.tool.call', told])
  expect(serverEventOf({ ...start, agent: 'm' })).toEqual(['agent.tool.call', { ...told, agent: 'm' }])
  expect(serverEventOf(end)).toEqual(['agent.tool.done', { toolCallId: '1' }])
  expect(serverEventOf({ ...end, error: 'x', agent: 'm' })).toEqual([
    'agent.tool.done',
    { toolCallId: '1', error: 'x', agent: 'm' },
  ])
})

it('says over the socket when the arguments of a call are complete, and what each answer of a model used', () => {
  const ready = { toolCallId: '1', args: { a: 1 }, at: 5 }
  expect(serverEventOf({ type: 'tool_call_ready', ...ready })).toEqual(['agent.tool.ready', ready])
  const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
  const call = { model: 'a/b', usage, finishReason: 'stop', durationMs: 9, at: 9, agent: 'm' } as const
  expect(serverEventOf({ type: 'model_call', ...call })).toEqual(['agent.model_call', call])
})

it('says over the socket who says a text, and inside of what', () => {
  expect(serverEventOf({ type: 'text', text: 'x', at: 1 })).toEqual(['agent.chunk', { chunk: 'x' }])
  expect(serverEventOf({ type: 'text', text: 'x', at: 1, agent: 'm', parentId: 's' })).toEqual([
    'agent.chunk',
    { chunk: 'x', agent: 'm', parentId: 's' },
  ])
})
