import { describe, expect, it } from 'vitest'
import { Agent, createHandler, memoryState, parallel, Team, textOf, tool } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { handlerOn } from '../../contracts/ag-ui/service.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'
import { AttachedAgent } from './attached.ts'
import { CLIENTS } from './clients.ts'
import { eventsIn } from './told.ts'

const ORIGIN = 'http://ag-ui.test'

type Serve = (request: Request) => Response | Promise<Response>

/** Serves clients from a handler in this process. */
function clientOf(handler: Serve, path: string, threadId: string, who = 'ann') {
  return new AttachedAgent({
    url: `${ORIGIN}/api/${path}/ag-ui`,
    threadId,
    headers: { 'x-test-user': who },
    fetch: async (url: string, init: RequestInit) => handler(new Request(url, init)),
  } as never)
}

const usual = handlerOn(memoryState(), undefined, { logger: false })

const said = (client: { readonly messages: readonly { role: string; content?: unknown }[] }) =>
  client.messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content ?? '')
    .join('')

/** A handler whose agent says what it is given, when it is given it. */
function steered() {
  const waiting: (() => void)[] = []
  const go = async () => {
    await eventually(() => expect(waiting.length).toBeGreaterThan(0))
    waiting.shift()?.()
  }
  const pause = () => new Promise<void>(resolve => void waiting.push(resolve))
  const slow = tool({ name: 'slow', execute: () => pause().then(() => 'slow result') })
  const talks = new Agent({
    name: 'talks',
    register: false,
    async *run(input, { callTool }) {
      const what = textOf(input)
      if (what === 'tool') yield String(yield* callTool(slow, { a: 1 }))
      if (what === 'thinks') {
        yield { type: 'thinking', text: 'Let me ' }
        await pause()
        yield { type: 'thinking', text: 'see.' }
      }
      if (what === 'state') {
        yield { type: 'artifact', artifactId: 'state', parts: [{ type: 'data', data: { count: 1 } }] }
        await pause()
        const change = [{ op: 'replace', path: '/count', value: 2 }]
        yield { type: 'artifact', artifactId: 'state', append: true, parts: [{ type: 'data', data: change }] }
      }
      yield 'One '
      yield 'two '
      await pause()
      yield 'three.'
    },
  })
  const args = {
    async *stream() {
      yield { type: 'tool_call_start', toolCall: { id: 'c1', name: 'draw' } }
      yield { type: 'tool_call_delta', toolCallId: 'c1', argumentsDelta: '{"x":' }
      await pause()
      yield { type: 'tool_call_delta', toolCallId: 'c1', argumentsDelta: '1}' }
      yield { type: 'tool_call_ready', toolCallId: 'c1' }
      yield { type: 'tool_call_end', toolCallId: 'c1', result: 'drawn' }
      yield { type: 'finish', finishReason: 'stop' }
    },
  }
  const handler = createHandler({
    agents: { talks, args: args as never },
    registry: false,
    state: memoryState(),
    middleware: [identify],
    runs: { disconnect: 'continue' },
    plugins: [agUi()],
    logger: false,
  })
  return { handler, go }
}

const ask = (client: AttachedAgent, text: string) => {
  client.addMessage({ id: `m-${text}`, role: 'user', content: text })
  return client
}

describe('a page that attaches', () => {
  it.each(['talks', 'recalls', 'fails'])('has what the first page has of %s', async name => {
    const first = ask(clientOf(usual, `agents/${name}`, `ended-${name}`), 'hello')
    await first.runAgent().catch(() => {})
    const second = clientOf(usual, `agents/${name}`, `ended-${name}`)
    const failed: unknown[] = []
    await second.connectAgent({}, { onRunErrorEvent: ({ event }) => void failed.push(event.code) })
    expect(second.messages).toEqual(first.messages)
    expect(second.state).toEqual(first.state)
    expect(failed).toEqual(name === 'fails' ? ['agent_failed'] : [])
    // The same page again has nothing twice.
    await second.connectAgent()
    expect(second.messages).toEqual(first.messages)
  })

  it.each(['teams/pair', 'workflows/flow'])('has the members of %s', async path => {
    const first = ask(clientOf(usual, path, path), 'hello')
    await first.runAgent()
    const second = clientOf(usual, path, path)
    await second.connectAgent()
    expect(second.messages).toEqual(first.messages)
  })

  it.each([
    ['text', 1],
    ['tool', 2],
    ['thinks', 2],
    ['state', 2],
  ])('in the middle of %s has all of it', async (what, steps) => {
    const { handler, go } = steered()
    const first = ask(clientOf(handler, 'agents/talks', 'thread'), what)
    const running = first.runAgent()
    const looks = { text: 'One two ', tool: '{"a":1}', thinks: 'Let me ', state: '"count":1' }[what] ?? ''
    const look = (client: AttachedAgent) =>
      JSON.stringify([client.messages, client.state]).replaceAll('\\"', '"')
    await eventually(() => expect(look(first)).toContain(looks))
    const [second, third] = [1, 2].map(() => clientOf(handler, 'agents/talks', 'thread'))
    const attached = second?.connectAgent()
    const leaving = third?.connectAgent()
    await eventually(() =>
      expect([second, third].map(each => look(each!))).toEqual([look(first), look(first)]),
    )
    third?.abortRun()
    await leaving
    for (let step = 0; step < steps; step++) await go()
    await Promise.all([running, attached])
    expect(said(second!)).toMatch(/One two three\.$/)
    expect(second?.messages).toEqual(first.messages)
    expect(second?.state).toEqual(first.state)
    expect(look(third!)).toContain(looks)
  })

  it('in the middle of members at work at once has each of them', async () => {
    const gates = new Map<string, () => void>()
    const member = (name: string) =>
      new Agent({
        name,
        register: false,
        async *run() {
          yield `${name} begins, `
          await new Promise<void>(resolve => gates.set(name, resolve))
          yield `${name} ends.`
        },
      })
    const handler = createHandler({
      teams: {
        pair: new Team({
          name: 'pair',
          members: [member('one'), member('two')],
          strategy: parallel,
          register: false,
        }),
      },
      registry: false,
      state: memoryState(),
      middleware: [identify],
      runs: { disconnect: 'continue' },
      plugins: [agUi()],
      logger: false,
    })
    const first = ask(clientOf(handler, 'teams/pair', 'thread'), 'x')
    const running = first.runAgent()
    const texts = (client: AttachedAgent) =>
      client.messages
        .flatMap(({ role, content }) => (role === 'assistant' ? [String(content).trimStart()] : []))
        .toSorted()
    // The text of the second one comes after that of the first.
    await eventually(() => expect([texts(first), gates.size]).toEqual([['one begins, '], 2]))
    const second = clientOf(handler, 'teams/pair', 'thread')
    const attached = second.connectAgent()
    await eventually(() => expect(texts(second)).toEqual(texts(first)))
    for (const name of ['two', 'one']) gates.get(name)?.()
    await Promise.all([running, attached])
    expect(texts(second)).toEqual(['one begins, one ends.', 'two begins, two ends.'])
    expect(second.messages).toEqual(first.messages)
  })

  it('in the middle of arguments has all of them', async () => {
    const { handler, go } = steered()
    const first = ask(clientOf(handler, 'agents/args', 'thread'), 'x')
    const running = first.runAgent()
    const look = (client: AttachedAgent) => JSON.stringify(client.messages)
    await eventually(() => expect(look(first)).toContain('{\\"x\\":'))
    const second = clientOf(handler, 'agents/args', 'thread')
    const attached = second.connectAgent()
    await eventually(() => expect(second.messages).toEqual(first.messages))
    await go()
    await Promise.all([running, attached])
    expect(second.messages).toEqual(first.messages)
    expect(look(second)).toContain('drawn')
  })

  it('decides on what waits, and keeps its ids', async () => {
    const first = ask(clientOf(usual, 'agents/pays', 'pays'), '5')
    await first.runAgent()
    const second = clientOf(usual, 'agents/pays', 'pays')
    await second.connectAgent()
    expect(second.pendingInterrupts).toEqual(first.pendingInterrupts)
    const [{ id: interruptId = '' } = {}] = second.pendingInterrupts
    await second.runAgent({ resume: [{ interruptId, status: 'resolved', payload: true }] })
    expect(said(second)).toBe('I ask. I have paid 5.')
    const third = clientOf(usual, 'agents/pays', 'pays')
    await third.connectAgent()
    expect(third.messages).toEqual(second.messages)
    expect(third.pendingInterrupts).toEqual([])
    ask(third, '6')
    await third.runAgent()
    expect(third.messages.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  it('runs the tool of the page that waits', async () => {
    const tools = [{ name: 'pick_color', description: 'Picks', parameters: { type: 'object' } }]
    const first = ask(clientOf(usual, 'agents/paints', 'paints'), 'x')
    await first.runAgent({ tools })
    const second = clientOf(usual, 'agents/paints', 'paints')
    let pending: unknown
    await second.connectAgent(
      {},
      {
        onRunFinishedEvent({ event }) {
          pending = event.outcome
        },
      },
    )
    expect(pending).toEqual({ type: 'success', pendingToolCallIds: ['call-1'] })
    second.addMessage({ id: 'r', role: 'tool', toolCallId: 'call-1', content: '{"color":"red"}' })
    await second.runAgent({ tools })
    const third = clientOf(usual, 'agents/paints', 'paints')
    await third.connectAgent()
    const withoutOwn = (messages: readonly { role: string; id: string }[]) =>
      messages.map(({ id, ...message }) => (message.role === 'tool' ? message : { id, ...message }))
    expect(withoutOwn(third.messages)).toEqual(withoutOwn(second.messages))
  })

  it.each([
    ['an unknown thread', 'none', 'ann'],
    ['the thread of another', 'theirs', 'eve'],
  ])('has nothing of %s', async (_, thread, who) => {
    const first = ask(clientOf(usual, 'agents/recalls', 'theirs'), 'mine')
    await first.runAgent()
    const second = clientOf(usual, 'agents/recalls', thread, who)
    await second.connectAgent()
    expect(second.messages).toEqual([])
  })

  it('has nothing without an identity, nor where nothing is stored', async () => {
    const bare = createHandler({
      serve: [new Agent({ name: 'recalls', register: false, run: () => 'x' })],
      registry: false,
      plugins: [agUi()],
      logger: false,
    })
    for (const handler of [usual, bare] as const) {
      const response = await handler(new Request(`${ORIGIN}/api/agents/recalls/ag-ui?threadId=theirs`))
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        200,
        'text/event-stream',
        '',
      ])
    }
  })

  it('keeps the newest of a long conversation', async () => {
    const handler = createHandler({
      serve: [new Agent({ name: 'long', register: false, run: () => 'x'.repeat(120_000) })],
      registry: false,
      state: memoryState(),
      middleware: [identify],
      plugins: [agUi()],
      logger: false,
    })
    const client = () => clientOf(handler, 'agents/long', 'long')
    for (let turn = 1; turn <= 12; turn++) await ask(client(), `${turn}`).runAgent()
    const second = client()
    await second.connectAgent()
    expect(second.messages.length).toBeLessThan(24)
    expect(second.messages.at(-2)?.id).toBe('m-12')
  })
})

describe('a stock client', () => {
  it.each(Object.entries(CLIENTS))('%s still connects quietly', async (_, make) => {
    const client = make({ url: `${ORIGIN}/api/agents/talks/ag-ui`, threadId: 'thread' }) as unknown as {
      connectAgent?(): Promise<unknown>
    }
    await client.connectAgent?.()
  })
})

describe('a position', () => {
  const textOfRun = async (
    handler: Serve,
    headers: Record<string, string>,
    thread = 'thread',
    path = 'talks',
  ) => {
    const url = `${ORIGIN}/api/agents/${path}/ag-ui?threadId=${thread}&protocolVersion=1.0&runId=theirs`
    const response = await handler(new Request(url, { headers }))
    expect(response.status).toBe(200)
    return response.text()
  }
  const asked = async (thread: string) => {
    const init = jsonRequest({
      ...{ threadId: thread, runId: 'theirs', protocolVersion: '1.0' },
      messages: [{ id: 'm', role: 'user', content: 'hello' }],
    })
    init.headers = { 'content-type': 'application/json', 'x-test-user': 'ann' }
    const handler = handlerOn(memoryState(), undefined, { runs: { disconnect: 'continue' } })
    const response = await handler(new Request(`${ORIGIN}/api/agents/talks/ag-ui`, init))
    return { handler, text: await response.text() }
  }

  it('is on each event, and what follows it is the rest', async () => {
    const { handler, text } = await asked('thread')
    const frames = text.split('\n\n').filter(frame => frame.startsWith('id: '))
    expect(frames.length).toBe(eventsIn(text.replace(/^id: .*\n/gm, '')).length)
    for (const [index, frame] of frames.entries()) {
      if (index === frames.length - 1) break
      const id = frame.slice(4, frame.indexOf('\n'))
      const rest = await textOfRun(handler, { 'x-test-user': 'ann', 'last-event-id': id })
      expect(rest.split('\n\n').filter(each => each.startsWith('id: '))).toEqual(frames.slice(index + 1))
    }
  })

  it('of no run, of another’s run, negative or huge gives no more than the thread', async () => {
    const { handler, text } = await asked('thread')
    const runId = /id: ([\w-]+):/.exec(text)?.[1]
    const positions = [
      'x',
      `${runId}:-1.0`,
      `${runId}:1e9`,
      `${'9'.repeat(9999)}:1.1`,
      `${crypto.randomUUID()}:1.1`,
    ]
    for (const id of positions) {
      const again = await textOfRun(handler, { 'x-test-user': 'ann', 'last-event-id': id })
      expect(again).toContain('MESSAGES_SNAPSHOT')
      expect(await textOfRun(handler, { 'x-test-user': 'eve', 'last-event-id': id })).toBe('')
    }
    expect(await textOfRun(handler, { 'x-test-user': 'eve', 'last-event-id': `${runId}:1.1` })).toBe('')
    expect(await textOfRun(handler, { 'x-test-user': 'ann', 'last-event-id': `${runId}:1.1` }, 'other')).toBe(
      '',
    )
    const huge = await textOfRun(handler, { 'x-test-user': 'ann', 'last-event-id': `${runId}:999999999.1` })
    expect(huge).toContain('RUN_FINISHED')
  })
})
