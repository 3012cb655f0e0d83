/** What agents of frameworks wait for, at the limits. `test/frameworks` has the packages themselves. */
import { describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import type { Answer, RunOptions, ServableAgent } from '../../../src/index.ts'
import { drain } from '../../support.ts'
import { requestsIn, work } from '../model-agent/kit.ts'
import { aiAgent, graph, mastraAgent, openaiAgent, streaming, voltAgent } from './fakes.ts'

const play = (agent: ServableAgent, options: RunOptions = {}) =>
  drain(agent.stream!('Pay', { runId: 'r1', work: work(), ...options }))

/** A part of the AI SDK that asks for a call. */
const request = (number: number, more = {}) => ({
  type: 'tool-approval-request',
  approvalId: `a${number}`,
  toolCall: { toolCallId: `c${number}`, toolName: 'pay', input: { number } },
  ...more,
})

/** An agent of the AI SDK that asks in its first run. */
function asking(parts: readonly object[], messages: unknown = []) {
  const told: unknown[] = []
  const agent = {
    ...aiAgent({ id: 'a' }),
    async stream(options: object) {
      told.push(Object(options).messages)
      const isFirst = told.length === 1
      return { stream: streaming(isFirst ? parts : []), responseMessages: Promise.resolve(messages) }
    },
  }
  return { told, agent: toAgent(agent) }
}

describe('an agent that asks for approvals', () => {
  it('is told each decision, once all are made', async () => {
    const { told, agent } = asking([request(1), request(2)], [{ role: 'assistant', content: 'Hm' }])
    const state = work()
    const [one, two] = requestsIn(await play(agent, { work: state }))
    expect([one, two]).toMatchObject([
      { id: 'r1/approve:pay', kind: 'approval', toolCallId: 'c1', toolName: 'pay', args: { number: 1 } },
      { id: 'r1/approve:pay#2', toolCallId: 'c2' },
    ])
    const approved: Answer = { id: one?.id ?? '', decision: 'approve' }
    const denied: Answer = { id: two?.id ?? '', decision: 'deny', reason: 'too much' }
    const waits = await play(agent, { runId: 'r2', work: state, answers: [approved] })
    expect(requestsIn(waits)).toEqual([one, two])
    expect(told).toHaveLength(1)
    await play(agent, { runId: 'r3', work: state, answers: [approved, denied] })
    expect(told[1]).toEqual([
      { role: 'user', content: 'Pay' },
      { role: 'assistant', content: 'Hm' },
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: 'a1', approved: true },
          { type: 'tool-approval-response', approvalId: 'a2', approved: false, reason: 'too much' },
        ],
      },
    ])
  })

  it('takes no answer of another kind', async () => {
    const { told, agent } = asking([request(1)])
    const state = work()
    const [one] = requestsIn(await play(agent, { work: state }))
    const answers: Answer[] = [{ id: one?.id ?? '', value: true }]
    await expect(play(agent, { runId: 'r2', work: state, answers })).rejects.toMatchObject({
      code: 'invalid_input',
    })
    expect(told).toHaveLength(1)
  })

  it('asks nobody for what its own settings decide', async () => {
    const { agent } = asking([request(1, { isAutomatic: true })])
    expect((await play(agent)).at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  it('fails where its state is no JSON', async () => {
    const { agent } = asking([request(1)], [{ role: 'assistant', content: 1n }])
    await expect(play(agent)).rejects.toMatchObject({ code: 'invalid_event' })
  })

  it('fails where it asks for too much', async () => {
    const { agent } = asking(Array.from({ length: 101 }, (_, number) => request(number)))
    await expect(play(agent)).rejects.toMatchObject({ code: 'run_too_large' })
  })
})

it('fails where OpenAI Agents cannot write its state', async () => {
  const interruptions = [{ rawItem: { callId: 'c1', name: 'pay', arguments: '{}' } }]
  const state = {
    toString() {
      throw new Error('no JSON')
    },
  }
  const stream = Object.assign(streaming([]), { interruptions, state })
  const agent = toAgent(openaiAgent({ name: 'a' }), {
    run: async () => stream,
    RunState: { fromString() {} },
  })
  await expect(play(agent)).rejects.toMatchObject({ code: 'invalid_event' })
})

it('fails where OpenAI Agents cannot read its state again', async () => {
  const kept = {
    by: 'an OpenAI Agents agent (with `{ run }`)',
    state: { run: 'old' },
    waiting: [],
    places: [],
  }
  const state = work()
  state.keep(kept)
  const RunState = {
    async fromString() {
      throw new Error('an unknown version')
    },
  }
  const agent = toAgent(openaiAgent({ name: 'a' }), { run: async () => streaming([]), RunState })
  await expect(play(agent, { work: state })).rejects.toMatchObject({ code: 'not_resumable' })
})

const agents: readonly [name: string, agent: ServableAgent][] = [
  ['the AI SDK', toAgent(aiAgent({ id: 'a' }))],
  ['LangGraph', toAgent(graph({ name: 'a' }))],
  ['Mastra', toAgent(mastraAgent({ name: 'a' }))],
  ['OpenAI Agents', toAgent(openaiAgent({ name: 'a' }), { run: async () => streaming([]) })],
  ['VoltAgent', toAgent(voltAgent({ name: 'a' }))],
]

it.each(agents)('%s does not go on from what another agent kept', async (_, agent) => {
  const state = work()
  state.keep({ turns: [], turn: [], waiting: [] })
  await expect(play(agent, { work: state })).rejects.toMatchObject({ code: 'code_changed' })
})
