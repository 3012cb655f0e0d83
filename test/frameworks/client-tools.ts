/** The contract of the frameworks whose agents take tools of the client. */
import { describe, expect, it } from 'vitest'
import type { Answer, InputRequest, RunResult } from '../../src/index.ts'
import { terminalsIn } from '../support.ts'
import { askerOf, type withFramework } from './contract.ts'

/** Frameworks that read a schema may change it, or fail with one like this. */
const parameters = {
  type: 'object',
  properties: { hue: { $ref: '#/$defs/hue' }, name: { type: 'string', pattern: '^(a+)+$' } },
  $defs: { hue: { type: 'string' } },
  additionalProperties: true,
}
const clientTools = [{ name: 'pick_color', description: 'Lets the user pick a color', parameters }]

interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: object }[]
}

/** Tests the agents `main` and `keyed` of a framework: with memory and without. */
export function testClientTools({ served }: ReturnType<typeof withFramework>): void {
  const { post, run, stream } = askerOf(served)

  const answer = async (runId: string, ...answers: Answer[]) => {
    const response = await fetch(`${served().url}/api/runs/${runId}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers }),
    })
    const body: RunResult = await response.json()
    expect(response.status, JSON.stringify(body)).toBe(200)
    return body
  }
  const askedLast = (said: string) => JSON.parse(served().model.askedFor(said).at(-1)?.text ?? '{}')
  /** What the model was told since the user spoke. */
  const toldLast = (said: string): readonly Message[] => {
    const messages: Message[] = askedLast(said).messages
    return messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  }
  const callsIn = (messages: readonly Message[]) =>
    messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))
  const resultsIn = (messages: readonly Message[]) =>
    messages
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id, content }) => [id, content])
      .toSorted()
  const idsOf = (requests: readonly InputRequest[] = []) => requests.map(({ id }) => id)

  describe('tools of the client', () => {
    it('are offered as the client describes them, and a call of one is a request', async () => {
      const events = await stream('main', 'paint it', { clientTools })
      const offered: { function: object }[] = askedLast('paint it').tools
      expect(offered.find(tool => 'name' in tool.function && tool.function.name === 'pick_color')).toEqual({
        type: 'function',
        function: { name: 'pick_color', description: 'Lets the user pick a color', parameters },
      })
      expect(terminalsIn(events)).toMatchObject([
        {
          type: 'finish',
          finishReason: 'input_required',
          usage: { totalTokens: 12 },
          requests: [
            {
              id: expect.stringMatching(/^[^/]+\/client_tool:pick_color$/),
              kind: 'client_tool',
              toolCallId: 'call_1',
              toolName: 'pick_color',
              args: { hue: 'hue 0' },
              digest: expect.any(String),
            },
          ],
        },
      ])
      expect(events.filter(({ type }) => type === 'tool_call_end')).toEqual([])
    })

    it.each([
      ['of an agent without memory', 'keyed', {}],
      ['of a run without a session', 'main', {}],
      ['in a session', 'main', { sessionId: 'painters', userId: 'ada' }],
      ['with a history', 'main', { history: [{ role: 'user', content: 'my number is 9' }] }],
    ])('give a result that the model is told once, %s', async (how, agent, rest) => {
      const said = `paint the wall ${how}`
      const first = await run(agent, said, { clientTools, ...rest })
      expect(first.finishReason).toBe('input_required')
      const [id = ''] = idsOf(first.requests)
      const second = await answer(first.runId ?? '', { id, result: { color: 'red' } })
      expect(second).toMatchObject({ text: 'The tool said: {"color":"red"}', finishReason: 'stop' })
      const [, { users = [] } = {}] = served().model.askedFor(said)
      expect(users.filter(text => text === said)).toEqual([said])
      expect(users.includes('my number is 9')).toBe('history' in rest)
      expect(callsIn(toldLast(said))).toEqual(['call_1'])
      expect(resultsIn(toldLast(said))).toEqual([['call_1', '{"color":"red"}']])
    })

    it('wait for all of several calls, beside a tool of the agent', async () => {
      const said = 'paint both'
      const first = await run('main', said, { clientTools, sessionId: 'several' })
      expect(first.toolCalls.map(({ toolName }) => toolName)).toEqual([
        'pick_color',
        'get_weather',
        'pick_color',
      ])
      const [one = '', two = '', ...others] = idsOf(first.requests)
      expect([two, others]).toEqual([`${one}#2`, []])
      const waits = await answer(first.runId ?? '', { id: two, result: 'blue' })
      expect(waits.requests?.map(({ id }) => id)).toEqual([one])
      expect(served().model.askedFor(said)).toHaveLength(1)
      const { finishReason } = await answer(first.runId ?? '', { id: one, result: 'green' })
      expect(finishReason).toBe('stop')
      expect(callsIn(toldLast(said))).toEqual(['call_1', 'call_2', 'call_3'])
      expect(resultsIn(toldLast(said))).toEqual([
        ['call_1', 'green'],
        ['call_2', '{"sunny":"Oslo"}'],
        ['call_3', 'blue'],
      ])
    })

    it.each([{}, { sessionId: 'again' }])('may be asked for again: %o', async rest => {
      const said = `paint again ${JSON.stringify(rest)}`
      const first = await run('main', said, { clientTools, ...rest })
      const [id = ''] = idsOf(first.requests)
      const second = await answer(first.runId ?? '', { id, result: 'blue' })
      expect(second).toMatchObject({
        finishReason: 'input_required',
        requests: [
          { id: `${second.runId}/client_tool:pick_color#2`, toolCallId: 'call_2', args: { hue: 'hue 1' } },
        ],
      })
      const [next = ''] = idsOf(second.requests)
      const third = await answer(second.runId ?? '', { id: next, result: null })
      expect(third.text).toMatch(/^The tool said: blue and /)
      expect(callsIn(toldLast(said))).toEqual(['call_1', 'call_2'])
      expect(resultsIn(toldLast(said)).map(([call]) => call)).toEqual(['call_1', 'call_2'])
    })

    it('are remembered in the session, with their results', async () => {
      const session = { sessionId: 'remembered' }
      const first = await run('main', 'paint the door', { clientTools, ...session })
      const [id = ''] = idsOf(first.requests)
      await answer(first.runId ?? '', { id, result: 'yellow' })
      expect((await run('main', 'recall the door', session)).text).toBe('You said: paint the door')
      const messages: Message[] = askedLast('recall the door').messages
      expect(callsIn(messages)).toEqual(['call_1'])
      expect(resultsIn(messages)).toEqual([['call_1', 'yellow']])
    })

    it('cannot have the name of a tool of the agent', async () => {
      const response = await post('main/run', 'hello', { clientTools: [{ name: 'get_weather' }] })
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_input' }])
    })
  })
}
