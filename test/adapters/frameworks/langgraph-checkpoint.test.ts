/** Runs of graphs whose process died, by what the checkpointer gives. `test/wide/langgraph.test.ts` kills real ones. */
import { describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { RunWork } from '../../../src/agents/work/work.ts'
import { drain, textIn } from '../../support.ts'
import { graph } from './fakes.ts'

const call = { id: 'c1', name: 'pay', args: { sum: 5 } }
const asked = { type: 'human', id: 'r1', content: 'Pay' }
const said = { type: 'ai', id: 'm1', content: 'I pay. ', tool_calls: [call] }
const paid = { type: 'tool', id: 'm2', tool_call_id: 'c1', name: 'pay', content: 'paid' }
const done = { type: 'ai', id: 'm3', content: 'Done.' }
/** Of an earlier run of the thread. */
const earlier = { type: 'ai', id: 'm0', content: 'Earlier.' }

/** Goes on with a run that was cut off, whose records are `states`. */
async function goOn(
  messages: readonly object[],
  next: readonly string[] = [],
  states: Readonly<Record<string, unknown>> = { '#begun.0': { after: 'r1' } },
) {
  const calls: unknown[][] = []
  const parts = [['updates', { last: { messages: [{ role: 'ai', content: 'More.' }] } }]]
  const state = { values: { messages }, next, tasks: [] }
  const kept = graph({ name: 'g', checkpointer: {}, getState: async () => state, parts, calls })
  const journal = { write: async () => {}, flush() {} }
  const work = new RunWork({ done: [], answered: [], states, isCut: true }, { journal })
  const events = await drain(toAgent(kept).stream!('Pay', { runId: 'r1', work }))
  return { calls, text: textIn(events), types: events.map(({ type }) => type) }
}

describe('a graph whose run was cut off', () => {
  it('goes on without an input, and tells again what it had said in this run', async () => {
    const { calls, text, types } = await goOn([earlier, asked, said, paid], ['last'])
    expect(calls).toMatchObject([[null, { configurable: { thread_id: 'r1' }, durability: 'sync' }]])
    expect(text).toBe('I pay. More.')
    expect(types).toEqual([
      ...['text', 'tool_call_start', 'tool_call_delta', 'tool_call_ready', 'tool_call_end'],
      ...['text', 'finish'],
    ])
  })

  it('does not tell a call again that was told to its end', async () => {
    const states = { '#begun.0': { after: 'r1' }, '#told.c1': true }
    const { text, types } = await goOn([asked, said, paid], ['last'], states)
    expect([text, types]).toEqual(['I pay. More.', ['text', 'text', 'finish']])
  })

  it('only ends if the graph had ended', async () => {
    const { calls, text } = await goOn([asked, said, paid, done])
    expect([calls, text]).toEqual([[], 'I pay. Done.'])
  })

  it('begins if nothing of it is in its thread', async () => {
    const { calls, text } = await goOn([earlier])
    expect(calls[0]?.[0]).toMatchObject({ messages: [{ content: 'Pay', id: 'r1' }] })
    expect(text).toBe('More.')
  })

  it('begins if it had not recorded that it does', async () => {
    const { calls } = await goOn([earlier], [], {})
    expect(calls[0]?.[0]).toMatchObject({ messages: [{ content: 'Pay', id: 'r1' }] })
  })

  it('goes on before its first node, and where its thread forgets messages', async () => {
    for (const messages of [[], [earlier], [done]]) {
      const { calls, text } = await goOn(messages, ['__start__'])
      expect([calls[0]?.[0], text]).toEqual([null, 'More.'])
    }
  })

  it('begins again inside of another run if it keeps no threads', async () => {
    const calls: unknown[][] = []
    const journal = { write: async () => {}, flush() {} }
    const states = { 'helper/#begun.0': { after: 'r1:helper/' } }
    const work = new RunWork({ done: [], answered: [], states, isCut: true }, { journal }).inside('helper')
    await drain(toAgent(graph({ name: 'g', calls })).stream!('Pay', { runId: 'r1', work }))
    expect(calls[0]?.[0]).toEqual({ messages: [{ role: 'user', content: 'Pay' }] })
  })

  it('fails if its thread is lost', async () => {
    await expect(goOn([])).rejects.toMatchObject({ code: 'not_resumable' })
  })
})

it('sends a message of its own in each call of a run: a thread takes one id for one message', async () => {
  const calls: unknown[][] = []
  const journal = { write: async () => {}, flush() {} }
  const kept = toAgent(graph({ name: 'g', checkpointer: {}, getState: async () => ({}), calls }))
  const work = new RunWork(undefined, { journal })
  for (const path of ['helper', 'helper#2'])
    await drain(kept.stream!('Pay', { runId: 'r1', work: work.inside(path) }))
  const ids = calls.map(([asked]) => Object(asked).messages[0].id)
  expect(ids).toEqual(['r1:helper/', 'r1:helper#2/'])
  await drain(kept.stream!('Pay', { runId: 'r1' }))
  expect(Object(calls[2]?.[0]).messages).toEqual([{ role: 'user', content: 'Pay' }])
})

it('goes on only where there is a checkpointer', () => {
  const goesOn = (more: object) => toAgent(graph({ name: 'g', ...more }))
  expect(goesOn({ checkpointer: {}, getState() {} })).toMatchObject({ resume: true })
  expect(goesOn({})).toMatchObject({ resume: false })
})
