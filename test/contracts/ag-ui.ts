/** What holds of AG-UI for stock clients, on every store and runtime. */
import { describe, expect, it } from 'vitest'
import { ServableAgent } from '../../src/protocols/ag-ui-client/index.ts'
import { eventually } from '../eventually.ts'
import { type AgUiClient, CLIENTS, type Make, type ToldMessage } from '../protocols/ag-ui/clients.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { jsonRequest, run } from './http/client.ts'
import { as, own, post, type Server } from './runs/client.ts'
import { served } from './served.ts'

interface Event {
  readonly type: string
  readonly [name: string]: unknown
}

/** The events of one run of a client. */
async function play(
  client: AgUiClient,
  parameters: Parameters<AgUiClient['runAgent']>[0] = {},
): Promise<Event[]> {
  const events: Event[] = []
  await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as unknown as Event) })
  return events
}

const told = (events: readonly Event[], type: string) => events.filter(event => event.type === type)
const last = (events: readonly Event[]) => events.at(-1) as Event & { readonly outcome: Outcome }

interface Outcome {
  readonly type: string
  readonly interrupts?: readonly { readonly id: string; readonly toolCallId?: string }[]
  readonly pendingToolCallIds?: readonly string[]
}

/** What the assistants said. */
const said = ({ messages }: AgUiClient) =>
  messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content ?? '')
    .join('')

const results = (messages: readonly ToldMessage[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content)

/** What holds for a client of one version. */
export function clientCases(name: string, make: Make, server: Server): void {
  const has1 = name.startsWith('1.')

  /** A client with one message. */
  const say = (path: string, text = 'hello', headers?: Record<string, string>): AgUiClient => {
    const url = `${server().url}/api/${path}/ag-ui`
    const client = make({ url, threadId: own('thread'), initialState: {}, ...(headers && { headers }) })
    client.addMessage({ id: own('message'), role: 'user', content: text })
    return client
  }

  describe(`a client ${name}`, () => {
    it('gets text, thoughts, tools, steps, state and output', async () => {
      const client = say('agents/talks')
      const events = await play(client, { runId: 'theirs' })
      expect(said(client)).toBe('You said hello. It is 3.')
      expect(client.messages.find(({ role }) => role === 'reasoning')?.content).toBe('Let me see. A sum.')
      expect(client.messages.flatMap(({ toolCalls = [] }) => toolCalls)).toMatchObject([
        { function: { name: 'add', arguments: '{"a":1,"b":2}' } },
      ])
      expect(results(client.messages)).toEqual(['{"sum":3}'])
      expect(client.state).toEqual({ count: 2 })
      expect(told(events, 'STEP_STARTED')).toMatchObject([{ stepName: 'think it over' }])
      expect(told(events, 'CUSTOM')).toMatchObject([
        { name: 'servable.artifact', value: { artifactId: 'sum', parts: [{ type: 'text', text: '3' }] } },
      ])
      expect(events[0]).toMatchObject({ type: 'RUN_STARTED', threadId: client.threadId, runId: 'theirs' })
      expect(last(events)).toMatchObject({
        type: 'RUN_FINISHED',
        result: { sum: 3 },
        ...(has1 && { outcome: { type: 'success' } }),
        usage: [{ inputTokens: 3, outputTokens: 4, totalTokens: 7 }],
        metadata: { servable: { finishReason: 'stop', cost: 0.25 } },
      })
    })

    it('hears the members of a team, and steps of one name', async () => {
      const client = say('teams/pair')
      const events = await play(client)
      const spoken = client.messages.filter(({ content, role }) => role === 'assistant' && content)
      const byName = (who: string) => spoken.filter(each => each.name === who).map(each => each.content)
      expect([byName('ann').join(''), byName('bob').join('')]).toEqual(['Hello there', '\n\nHi there'])
      const started = told(events, 'SUBAGENT_STARTED')
      expect(started.map(event => event.name).sort()).toEqual(has1 ? ['ann', 'bob'] : [])
      expect(told(events, 'SUBAGENT_FINISHED')).toHaveLength(started.length)
      for (const { name: who, subagentRunId } of spoken) {
        const subagent = started.find(event => event.name === who)
        expect(subagentRunId).toBe(subagent?.subagentRunId)
      }
      const steps = await play(say('workflows/flow'))
      expect(told(steps, 'STEP_STARTED').map(({ stepName }) => stepName)).toEqual(['look', 'look (2)'])
      expect(told(steps, 'STEP_FINISHED')).toHaveLength(2)
    })

    it('is told what failed', async () => {
      const client = say('agents/fails')
      const events = await play(client)
      expect(said(client)).toBe('Half')
      expect(last(events)).toMatchObject({ type: 'RUN_ERROR', code: 'agent_failed' })
      expect(JSON.stringify(events)).not.toContain('vault')
    })

    it('stops the run by leaving it', async () => {
      const word = own('left')
      const client = say('agents/waits', word)
      const running = play(client)
      await eventually(() => expect(said(client)).toBe('I wait'))
      client.abortRun()
      await running
      await eventually(async () => {
        expect((await run(server, '/api/agents/was-left/run', { input: word })).text).toBe('true')
      })
    })

    it('runs tools of its own', async () => {
      const client = say('agents/paints')
      const tools = [{ name: 'pick_color', description: 'Picks', parameters: { type: 'object' } }]
      const asked = await play(client, { tools })
      expect(last(asked).outcome).toEqual(
        has1 ? { type: 'success', pendingToolCallIds: ['call-1'] } : undefined,
      )
      expect(client.messages.at(-1)?.toolCalls).toMatchObject([
        { id: 'call-1', function: { name: 'pick_color', arguments: '{"hue":"warm"}' } },
      ])
      client.addMessage({
        id: own('message'),
        role: 'tool',
        toolCallId: 'call-1',
        content: '{"color":"red"}',
      })
      const events = await play(client, { tools })
      expect(events.map(({ type }) => type)).not.toContain('TOOL_CALL_START')
      expect(said(client)).toBe('It is {"color":"red"}')
      expect(results(client.messages)).toEqual(['{"color":"red"}'])
      const again = { threadId: client.threadId, runId: 'r', messages: client.messages.slice(0, 3), tools }
      const answer = await post(server, '/api/agents/paints/ag-ui', again)
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([409, 'already_answered'])
    })

    it('decides on a call by the message of a tool', async () => {
      const client = say('agents/pays', '5')
      const asked = await play(client)
      const [call] = told(asked, 'TOOL_CALL_START')
      client.pendingInterrupts = []
      const content = JSON.stringify({ approved: false, reason: 'too much' })
      client.addMessage({ id: own('message'), role: 'tool', toolCallId: call?.toolCallId, content })
      await play(client)
      expect(said(client)).toBe('I ask. I have not: The call was denied: too much')
    })

    it('has its history told where nobody is identified', async () => {
      const client = say('agents/recalls', 'one')
      await play(client)
      client.addMessage({ id: own('message'), role: 'user', content: [{ type: 'text', text: 'two' }] })
      await play(client)
      expect(said(client)).toBe('one: its client tells 0 in no sessiontwo: its client tells 2 in no session')
    })

    it('is remembered with an identity, and answered again', async () => {
      const client = say('agents/recalls', 'one', { 'x-test-user': own('ann') })
      await play(client)
      client.addMessage({ id: 'second', role: 'user', content: 'two' })
      await play(client)
      const { threadId } = client
      expect(client.messages.at(-1)?.content).toBe(`two: it remembers 2 in ${threadId}`)
      client.setMessages(client.messages.slice(0, 3))
      await play(client)
      expect(client.messages.at(-1)?.content).toMatch(new RegExp(`^two: .* in ${threadId} from second$`))
    })
  })
}

/** What a run asks, and how it is answered. */
export function interruptCases(server: Server): void {
  const make = CLIENTS['1.0.0']
  const ask = async (path: string, text: string, headers: Record<string, string> = {}) => {
    const client = make({ url: `${server().url}/api/${path}/ag-ui`, threadId: own('thread'), headers })
    client.addMessage({ id: own('message'), role: 'user', content: text })
    const { outcome } = last(await play(client))
    expect(outcome.type).toBe('interrupt')
    return { client, interrupts: outcome.interrupts ?? [] }
  }
  const resolved = (interruptId = '', payload: unknown) => ({
    interruptId,
    status: 'resolved' as const,
    payload,
  })
  const cancelled = (interruptId = '') => ({ interruptId, status: 'cancelled' as const })

  describe('interrupts', () => {
    it.each([
      [true, 'I have paid 5.'],
      [{ approved: true }, 'I have paid 5.'],
      [{ approved: true, editedArgs: { amount: 7 } }, 'I have paid 7.'],
      [{ decision: 'deny', reason: 'too much' }, 'I have not: The call was denied: too much'],
      [undefined, 'I have not: The call was denied'],
    ])('are answered by %j', async (payload, end) => {
      const { client, interrupts: asked } = await ask('agents/pays', '5')
      const [interrupt] = asked
      expect(interrupt).toMatchObject({
        reason: 'tool_call',
        responseSchema: { required: ['approved'] },
        metadata: { servable: { kind: 'approval', toolName: 'pay', args: { amount: 5 } } },
      })
      const entry = payload === undefined ? cancelled(interrupt?.id) : resolved(interrupt?.id, payload)
      const events = await play(client, { resume: [entry] })
      expect(said(client)).toBe(`I ask. ${end}`)
      expect(told(events, 'TOOL_CALL_START')).toEqual([])
      expect(told(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: interrupt?.toolCallId }])
      const ran = client.messages.flatMap(
        message => (message.role === 'assistant' && message.toolCalls) || [],
      )
      expect(ran.map(call => JSON.parse(call.function.arguments))).toEqual([
        { amount: Object(payload).editedArgs?.amount ?? 5 },
      ])
      expect(client.pendingInterrupts).toEqual([])
    })

    it('are answered together, or one after the other', async () => {
      const both = await ask('agents/orders', 'x')
      const [approval, question] = both.interrupts
      expect(question).toMatchObject({
        reason: 'input_required',
        message: 'Which size?',
        responseSchema: { enum: ['S', 'M'] },
      })
      const answers = [resolved(approval?.id, true), resolved(question?.id, 'M')]
      await play(both.client, { resume: answers })
      expect(said(both.client)).toBe('paid 5 in M')
      // The same answers again tell the same run.
      both.client.setMessages(both.client.messages.slice(0, 2))
      await play(both.client, { resume: answers })
      expect(said(both.client)).toBe('paid 5 in M')

      const single = await ask('agents/orders', 'x')
      const [first, second] = single.interrupts
      single.client.pendingInterrupts = []
      const left = await play(single.client, { resume: [resolved(second?.id, 'S')] })
      expect(left.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
      expect(last(left).outcome).toMatchObject({ type: 'interrupt', interrupts: [{ id: first?.id }] })
      await play(single.client, { resume: [resolved(first?.id, true)] })
      expect(said(single.client)).toBe('paid 5 in S')
    })

    it('give the same stream again for the same answers', async () => {
      const { interrupts: asked } = await ask('agents/pays', '5')
      const body = { threadId: 't', runId: 'r', messages: [], resume: [resolved(asked[0]?.id, true)] }
      const answer = () => post(server, '/api/agents/pays/ag-ui', body)
      const first = await answer()
      expect(first.text).toContain('I have paid 5.')
      expect((await answer()).text).toBe(first.text)
    })

    it('end the run where a question is cancelled', async () => {
      const { client, interrupts: asked } = await ask('agents/orders', 'x')
      const events = await play(client, { resume: asked.map(({ id }) => cancelled(id)) })
      expect(last(events).outcome).toEqual({ type: 'cancelled' })
      expect(client.pendingInterrupts).toEqual([])
    })

    it('are no one else’s, of no other agent, and answered once', async () => {
      const ann = own('ann')
      const { interrupts: asked } = await ask('agents/pays', '5', as(ann))
      const id = asked[0]?.id ?? ''
      const answer = async (entry: object, who: string, path = 'agents/pays') => {
        const body = { threadId: 't', runId: 'r', messages: [], resume: [entry] }
        const { status, text } = await post(server, `/api/${path}/ag-ui`, body, as(who))
        return [status, text.startsWith('{') ? JSON.parse(text).code : text.includes('I have paid 5.')]
      }
      const yes = resolved(id, true)
      expect(await answer(yes, own('eve'))).toEqual([404, 'run_not_found'])
      expect(await answer(yes, ann, 'agents/talks')).toEqual([404, 'request_not_found'])
      expect(await answer(yes, ann, 'teams/pair')).toEqual([404, 'request_not_found'])
      expect(await answer(resolved(`${id}2`, true), ann)).toEqual([404, 'request_not_found'])
      expect(await answer(resolved(`${crypto.randomUUID()}/x`, true), ann)).toEqual([404, 'run_not_found'])
      expect(await answer(resolved(id, 'yes'), ann)).toEqual([400, 'invalid_body'])
      const [{ toolCallId = '' } = {}] = asked
      const toolCalls = [{ id: toolCallId, type: 'function', function: { name: 'pay', arguments: '{}' } }]
      const messages = [
        { id, role: 'assistant', toolCalls },
        { id: 'result', role: 'tool', toolCallId, content: '{"approved":true}' },
      ]
      const stolen = { threadId: 't', runId: 'r', messages }
      const { status } = await post(server, '/api/agents/pays/ag-ui', stolen, as(own('eve')))
      expect(status).toBe(404)
      expect(await answer(yes, ann)).toEqual([200, true])
      expect(await answer(resolved(id, false), ann)).toEqual([409, 'already_answered'])
    })
  })
}

export function agUiContract(deploy: Deploy): void {
  const server = served(() => deploy('usual'))
  for (const [name, make] of Object.entries(CLIENTS)) clientCases(name, make, server)
  interruptCases(server)

  it('gives a page that attaches the thread, and what waits for it', async () => {
    const url = `${server().url}/api/agents/pays/ag-ui`
    const options = { url, threadId: own('thread'), headers: { 'x-test-user': own('ann') } }
    const first = new ServableAgent(options)
    first.addMessage({ id: own('message'), role: 'user', content: '5' })
    await first.runAgent()
    const second = new ServableAgent(options)
    await second.connectAgent()
    // A run that no setting stores keeps its question, and not what it said before.
    expect(second.messages[0]).toEqual(first.messages[0])
    expect(second.pendingInterrupts).toEqual(first.pendingInterrupts)
    const [{ id: interruptId = '' } = {}] = second.pendingInterrupts
    await second.runAgent({ resume: [{ interruptId, status: 'resolved', payload: true }] })
    expect(said(second as never)).toMatch(/I have paid 5\.$/)
  })

  it('tells an agent the facts of its client', async () => {
    const facts = {
      state: { a: 1 },
      context: [{ description: 'b', value: 'c' }],
      forwardedProps: { d: null },
    }
    const messages = [{ id: 'm', role: 'user', content: 'x' }]
    const body = { threadId: 't', runId: 'theirs', messages, tools: [], ...facts }
    const response = await fetch(`${server().url}/api/agents/facts/ag-ui`, jsonRequest(body))
    const id = response.headers.get('x-run-id')
    const text = await response.text()
    const deltas = [...text.matchAll(/"delta":("(?:[^"\\]|\\.)*")/g)].map(([, delta]) =>
      JSON.parse(delta ?? ''),
    )
    expect(JSON.parse(deltas.join(''))).toEqual({ agui: { runId: 'theirs', ...facts } })
    expect(text).toContain(`"messageId":"${id}/1"`)
  })
}
