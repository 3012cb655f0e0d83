import { expect, it } from 'vitest'
import type { RunEvent } from '../../../../src/agents/contract.ts'
import { EventSender } from '../../../../src/protocols/event-socket/gateway/event-sender.ts'

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
