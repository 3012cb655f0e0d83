/** Messages for runs at work, where much happens at once or something fails. */
import { expect, it } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { deferred } from '../../../src/base/wake.ts'
import { createClient, type RunEvent } from '../../../src/client/index.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  memoryState,
  type RunInput,
  type Servable,
  textOf,
} from '../../../src/index.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'

type Sessions = NonNullable<HandlerOptions['sessions']>

const TARGET = { kind: 'agent', name: 'helper' } as const

/** What a start answers. */
interface Started {
  readonly id: string
  readonly steered?: boolean
  readonly next?: string
}

/** An agent whose first run waits for the test, and then takes what came, fails, or leaves it. */
function world(then: 'takes' | 'fails' = 'takes', how: Sessions = {}) {
  const gate = deferred<void>()
  const begun = deferred<void>()
  const asked: string[] = []
  const helper = new Agent({
    name: 'helper',
    register: false,
    steering: true,
    async *run(input, { steering, signal }) {
      asked.push(textOf(input))
      if (textOf(input) !== 'first') {
        yield `re ${textOf(input)}`
        return
      }
      yield 'working '
      begun.resolve()
      await Promise.race([gate.promise, new Promise(resolve => signal.addEventListener('abort', resolve))])
      if (then === 'fails') throw new Error('the model is away')
      for (const message of yield* steering.take()) yield `took ${textOf(message.input)} `
      yield 'done'
    },
  })
  return { gate, begun, asked, ...serve(helper, how) }
}

/** Serves, and gives what clients do. */
function serve(servable: Servable, how: Sessions) {
  const handler = createHandler({
    serve: [servable],
    registry: false,
    state: memoryState(),
    logger: false,
    plugins: [sessions(), mcp({ tools: true })],
    sessions: how,
    middleware: [identify],
  })
  const clientOf = (who: string) =>
    createClient({
      baseUrl: 'http://steering.test/api',
      headers: { 'x-test-user': who },
      fetch: async request => handler(request),
    })
  const client = clientOf('ada')
  const send = async (input: RunInput, concurrency?: 'steer', by = client, sessionId = 's') =>
    (await by.runs.start(TARGET, input, { sessionId, concurrency })) as Started
  const events = async (id: string, after = 0) => {
    const told: RunEvent[] = []
    const source = client.runs.stream(id, { after })
    for await (const event of source) told.push(event)
    return told
  }
  return { handler, client, clientOf, send, events }
}

const steersIn = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'steered')

it('is told once to a reader that comes back, wherever it was cut', async () => {
  const { gate, begun, send, events } = world()
  const { id } = await send('first')
  await begun.promise
  await send('second', 'steer')
  gate.resolve()
  const all = await events(id)
  const at = all.findIndex(({ type }) => type === 'steered') + 1
  expect(steersIn(all)).toHaveLength(1)
  for (let after = 0; after < all.length; after++) {
    const rest = await events(id, after)
    expect(rest).toEqual(all.slice(after))
    expect(steersIn(rest)).toHaveLength(after < at ? 1 : 0)
  }
})

it('is the next run if the run at work fails', async () => {
  const { gate, begun, asked, client, send, events } = world('fails')
  const { id } = await send('first')
  await begun.promise
  const { next = '' } = await send('second', 'steer')
  gate.resolve()
  expect((await client.runs.result(next)).text).toBe('re second')
  expect(steersIn(await events(id))).toEqual([])
  expect((await client.runs.get(id)).status).toBe('failed')
  expect(asked).toEqual(['first', 'second'])
})

it('begins a run of its own if the run has ended, and in the session of somebody else', async () => {
  const { gate, begun, client, clientOf, send, events } = world()
  const { id } = await send('first')
  await begun.promise
  const eve = clientOf('eve')
  const hers = await send('mine', 'steer', eve)
  expect(hers).not.toHaveProperty('steered')
  expect((await eve.runs.result(hers.id)).text).toBe('re mine')
  gate.resolve()
  expect((await client.runs.result(id)).text).toBe('working done')
  const late = await send('late', 'steer')
  expect(late).not.toHaveProperty('steered')
  expect((await client.runs.result(late.id)).text).toBe('re late')
  expect(steersIn(await events(id))).toEqual([])
})

it('is refused ten thousand times once eight wait, and nothing grows', async () => {
  const { gate, begun, asked, client, send } = world()
  const { id } = await send('first')
  await begun.promise
  for (let count = 1; count <= 8; count++) await send(`s${count}`, 'steer')
  const codes = new Set<unknown>()
  for (let count = 0; count < 100; count++) {
    const tries = Array.from({ length: 100 }, () => send('more', 'steer').catch(error => error.code))
    for (const code of await Promise.all(tries)) codes.add(code)
  }
  expect([...codes]).toEqual(['session_busy'])
  expect((await client.runs.list({ limit: 100 })).runs).toHaveLength(9)
  gate.resolve()
  const { text } = await client.runs.result(id)
  expect(text.match(/took s\d/g)).toHaveLength(8)
  expect(asked).toEqual(['first'])
}, 60_000)

it('is answered once if the run is cancelled at the same time', async () => {
  for (let round = 0; round < 50; round++) {
    const { gate, begun, asked, client, send, events } = world()
    const { id } = await send('first')
    await begun.promise
    const cancel = async () => {
      for (let turns = 0; turns < round; turns++) await undefined
      await client.runs.cancel(id).catch(() => {})
    }
    const [started] = await Promise.all([send('second', 'steer'), cancel()])
    gate.resolve()
    const own = started.next ?? started.id
    await client.runs.result(own).catch(() => {})
    const taken = steersIn(await events(id)).length
    expect([taken, asked.filter(each => each === 'second').length].sort()).toEqual([0, 1])
  }
}, 30_000)

it('waits for a run of its own if it comes over MCP', async () => {
  const { gate, begun, asked, client, send, events, handler } = world('takes', { concurrency: 'steer' })
  const { id } = await send('first')
  await begun.promise
  const call = { name: 'helper', arguments: { input: 'second', sessionId: 's' } }
  const answer = handler(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        'x-test-user': 'ada',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    }),
  )
  await eventually(async () => expect((await client.runs.list()).runs).toHaveLength(2))
  gate.resolve()
  expect(await (await answer).text()).toContain('re second')
  expect(steersIn(await events(id))).toEqual([])
  expect(asked).toEqual(['first', 'second'])
})

it('is never made of the result of a tool that the client ran', async () => {
  const gate = deferred<void>()
  const begun = deferred<void>()
  const model = scriptedModel(async ({ text, results }) => {
    if (results.length > 0) return `picked ${JSON.stringify(results)}`
    if (text === 'pick') return { toolCalls: [{ name: 'pick_color', input: {} }] }
    begun.resolve()
    await gate.promise
    return `re ${text}`
  })
  const helper = new ModelAgent({ name: 'helper', model, register: false })
  const { send, client, events } = serve(helper, { concurrency: 'steer' })
  const clientTools = [{ name: 'pick_color', description: 'Picks', parameters: { type: 'object' } }]
  const asking = await client.runs.start(TARGET, 'pick', { sessionId: 's', clientTools })
  const [request] = await eventually(async () => {
    const { requests = [] } = await client.runs.get(asking.id)
    expect(requests).toHaveLength(1)
    return requests
  })
  const { id } = await send('second')
  await begun.promise
  const { next } = await client.runs.answer(asking.id, [{ id: request!.id, result: 'red' }])
  gate.resolve()
  expect((await next!.result()).text).toContain('red')
  expect((await client.runs.result(id)).text).toBe('re second')
  expect(steersIn(await events(id))).toEqual([])
})
