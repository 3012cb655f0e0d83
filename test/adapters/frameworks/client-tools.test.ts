/** Tools of the client for an agent of Mastra, at their limits. `test/wide/mastra.test.ts` has the package itself. */
import { describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import type { Answer, RunOptions } from '../../../src/index.ts'
import { drain } from '../../support.ts'
import { requestsIn, work } from '../model-agent/kit.ts'
import { mastraAgent, streaming } from './fakes.ts'

const clientTools = [{ name: 'pick' }]

/** An agent whose model makes some calls in its first run, and none later. */
function makeAgent(calls: number) {
  const asked: unknown[] = []
  const ids = Array.from({ length: calls }, (_, at) => `call_${at}`)
  const parts = ids.map(toolCallId => ({
    type: 'tool-invocation',
    toolInvocation: { state: 'call', toolCallId, toolName: 'pick', args: {} },
  }))
  const stream = async (messages: unknown) => {
    asked.push(messages)
    if (asked.length > 1) return { fullStream: streaming([]) }
    return {
      fullStream: streaming(
        ids.map(toolCallId => ({ type: 'tool-call', payload: { toolCallId, toolName: 'pick', args: {} } })),
      ),
      messageList: { get: { input: { db: () => [{ id: 'm1', role: 'user', content: { parts: [] } }] } } },
      response: Promise.resolve({ dbMessages: [{ id: 'm2', createdAt: new Date(0), content: { parts } }] }),
    }
  }
  const agent = toAgent(mastraAgent({ name: 'a', stream }))
  return { asked, play: (options: RunOptions) => drain(agent.stream!('Paint', { clientTools, ...options })) }
}

describe('tools of the client in Mastra', () => {
  it('wait at most a hundred at a time: the model is told of the others', async () => {
    const { asked, play } = makeAgent(102)
    const state = work()
    const events = await play({ runId: 'r1', work: state })
    const requests = requestsIn(events)
    expect([requests.length, requests.at(-1)?.id]).toEqual([100, 'r1/client_tool:pick#100'])
    expect(events.filter(({ type }) => type === 'tool_call_end')).toMatchObject([
      { toolCallId: 'call_100', error: expect.stringContaining('100') },
      { toolCallId: 'call_101', error: expect.stringContaining('100') },
    ])
    const answers: Answer[] = requests.map(({ id }, at) => ({ id, result: at }))
    await play({ runId: 'r2', work: state, answers })
    const results = Array.from({ length: 102 }, (_, at) => ({
      toolInvocation: {
        state: 'result',
        toolCallId: `call_${at}`,
        result: at < 100 ? at : expect.stringContaining('100'),
      },
    }))
    expect(asked[1]).toMatchObject([{ id: 'm1' }, { id: 'm2', content: { parts: results } }])
    expect(asked[1]).not.toHaveProperty([1, 'createdAt'])
  })

  it('wait on while one is not answered', async () => {
    const { asked, play } = makeAgent(2)
    const state = work()
    const requests = requestsIn(await play({ runId: 'r1', work: state }))
    const answers: Answer[] = [{ id: requests[0]?.id ?? '', result: 1 }]
    expect(requestsIn(await play({ runId: 'r2', work: state, answers }))).toEqual(requests)
    expect(asked).toHaveLength(1)
  })

  it('take no answer of another kind', async () => {
    const { asked, play } = makeAgent(1)
    const state = work()
    const [request] = requestsIn(await play({ runId: 'r1', work: state }))
    const answers: Answer[] = [{ id: request?.id ?? '', decision: 'approve' }]
    await expect(play({ runId: 'r2', work: state, answers })).rejects.toMatchObject({ code: 'invalid_input' })
    expect(asked).toHaveLength(1)
  })

  it.each([null, {}, { messages: [], waiting: [{}] }, { turns: [], turn: [], waiting: [] }])(
    'do not go on from what another agent kept: %j',
    async kept => {
      const { asked, play } = makeAgent(1)
      const state = work()
      state.keep(kept)
      await expect(play({ runId: 'r2', work: state })).rejects.toMatchObject({ code: 'code_changed' })
      expect(asked).toEqual([])
    },
  )
})
