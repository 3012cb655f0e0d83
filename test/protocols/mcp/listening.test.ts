/** Streams of what has changed. */
import { afterEach, describe, expect, it } from 'vitest'
import { Agent, bearerAuth, Registry } from '../../../src/index.ts'
import { mcpPrompts, mcpResources } from '../../../src/protocols/mcp/plugin.ts'
import { ActiveCalls } from '../../../src/protocols/mcp/sessions.ts'
import { eventually } from '../../eventually.ts'
import { type Json, messagesIn, serve } from './calling.ts'

const META = 'io.modelcontextprotocol/subscriptionId'

/** Who listens in a test: they leave at its end. */
const open = new Set<AbortController>()
afterEach(() => {
  for (const each of open) each.abort()
  open.clear()
})

function service() {
  const values: Record<string, string> = { a: '1', b: '1' }
  const registry = new Registry()
  registry.register(new Agent({ name: 'first', register: false, run: () => 'x' }))
  const resources = mcpResources({
    'values://{name}': {
      read: ({ params: { name }, identity }) => (identity?.id === 'ada' ? values[name ?? ''] : undefined),
      list: () => Object.keys(values).map(name => ({ uri: `values://${name}` })),
    },
    'counted://it': { read: () => 'the same', version: () => values.a },
  })
  const served = serve(
    { tools: true, resources, prompts: mcpPrompts() },
    { registry, middleware: [bearerAuth({ tokens: { 'token-of-ada': 'ada', 'token-of-bob': 'bob' } })] },
  )
  const read = (response: Response) => {
    let text = ''
    const over = (async () => {
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    })().catch(() => {})
    return { messages: () => messagesIn(text), over, cancel: () => response.body?.cancel() }
  }
  const listen = async (notifications: unknown, { user = 'ada', id = 7 } = {}) => {
    const leaving = new AbortController()
    open.add(leaving)
    const response = await served.stream(
      'subscriptions/listen',
      { notifications },
      { id, headers: { authorization: `Bearer token-of-${user}` }, signal: leaving.signal },
    )
    return {
      response,
      leaving,
      ...(response.headers.get('content-type') === 'text/event-stream'
        ? read(response)
        : { messages: () => [] }),
    }
  }
  return { served, values, registry, listen, read }
}

describe('subscriptions/listen', () => {
  it('tells what was granted, and then what changes, and nothing else', async () => {
    const { values, registry, listen } = service()
    const uris = ['values://a', 'values://none', 'counted://it']
    const all = await listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: uris,
    })
    const one = await listen(
      { resourceSubscriptions: ['values://b'], resourcesListChanged: false },
      { id: 8 },
    )
    const ofBob = await listen({ resourceSubscriptions: ['values://a'] }, { user: 'bob', id: 9 })
    await eventually(() => expect(all.messages()).toHaveLength(1))
    expect(all.messages()[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: {
          toolsListChanged: true,
          promptsListChanged: true,
          resourceSubscriptions: ['values://a', 'counted://it'],
        },
        _meta: { [META]: 7 },
      },
    })
    await eventually(() => expect(one.messages()).toHaveLength(1))
    // They have looked once.
    await new Promise(resolve => setTimeout(resolve, 50))
    values.a = '2'
    registry.register(new Agent({ name: 'second', register: false, examples: ['Try it'], run: () => 'x' }))
    await eventually(() => expect(all.messages()).toHaveLength(5))
    const told = all.messages().slice(1)
    expect(told.map(({ method, params }) => `${method} ${params.uri ?? ''}`).sort()).toEqual([
      'notifications/prompts/list_changed ',
      'notifications/resources/updated counted://it',
      'notifications/resources/updated values://a',
      'notifications/tools/list_changed ',
    ])
    for (const { params } of told) expect(params._meta).toEqual({ [META]: 7 })
    values.b = '2'
    await eventually(() => expect(one.messages()).toHaveLength(2))
    expect(one.messages()[1].params).toMatchObject({ uri: 'values://b', _meta: { [META]: 8 } })
    // Bob may not read them: he was granted nothing, and is told nothing.
    expect(ofBob.messages()).toHaveLength(1)
    expect(ofBob.messages()[0].params.notifications).toEqual({})
  })

  it('is refused for what is no filter, for too many resources, and for one client with too many streams', async () => {
    const { listen } = service()
    const many = Array.from({ length: 101 }, (_, at) => `values://${at}`)
    for (const wrong of [
      undefined,
      [],
      'all',
      { resourceSubscriptions: many },
      { resourceSubscriptions: [1] },
      { resourceSubscriptions: 'values://a' },
    ]) {
      const { response } = await listen(wrong)
      expect((await response.json()).error.code).toBe(-32602)
    }
    const streams = []
    for (let at = 0; at < 20; at++) streams.push(await listen({ toolsListChanged: true }, { id: at }))
    const { response } = await listen({ toolsListChanged: true })
    expect([response.status, (await response.json()).error.data.code]).toEqual([429, 'too_many_followers'])
    expect((await listen({ toolsListChanged: true }, { user: 'bob' })).response.status).toBe(200)
    // Who leaves frees the place.
    streams[0]!.leaving.abort()
    await eventually(async () => expect((await listen({ toolsListChanged: true })).response.status).toBe(200))
  })
})

describe('what is slow, or wrong', () => {
  it('silences nothing else, and a version may be any value', async () => {
    let [version, rows] = [1, 1n]
    const resources = mcpResources({
      'slow://it': { read: () => 'x', version: ({ signal }) => (version > 1 ? untilLeft(signal) : version) },
      'rows://all': { read: () => 'x', version: () => rows },
      'never://it': { read: ({ signal }) => untilLeft(signal) },
    })
    const { stream, ask } = serve({ tools: true, resources }, { runs: { timeoutMs: 300 } })
    const leaving = new AbortController()
    open.add(leaving)
    const notifications = { resourceSubscriptions: ['slow://it', 'rows://all'] }
    const response = await stream(
      'subscriptions/listen',
      { notifications },
      { id: 1, signal: leaving.signal },
    )
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
    })().catch(() => {})
    const told = () => messagesIn(text).map(({ method, params }: Json) => `${method} ${params.uri ?? ''}`)
    await eventually(() => expect(told()).toHaveLength(1))
    expect(messagesIn(text)[0].params.notifications).toEqual(notifications)
    // It has looked once.
    await new Promise(resolve => setTimeout(resolve, 50))
    version = 2
    await eventually(() => expect(version).toBe(2))
    for (const next of [2n, 3n]) {
      const before = told().length
      rows = next
      await eventually(() => expect(told()).toHaveLength(before + 1))
      expect(told().at(-1)).toBe('notifications/resources/updated rows://all')
    }
    leaving.abort()
    await reading
    const read = { headers: { 'mcp-name': 'never://it' } }
    const { status, error } = await ask('resources/read', { uri: 'never://it' }, read)
    expect([status, error.data.code]).toEqual([504, 'run_timeout'])
    const gone = new AbortController()
    const left = ask('resources/read', { uri: 'never://it' }, { ...read, signal: gone.signal })
    gone.abort()
    await left.catch(() => {})
  })
})

const untilLeft = (signal: AbortSignal) =>
  new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('left')))

describe('a session before 2026-07-28', () => {
  const begin = async ({ served }: ReturnType<typeof service>) => {
    const authorization = 'Bearer token-of-ada'
    const { headers } = await served.askLegacy(
      'initialize',
      { protocolVersion: '2025-11-25' },
      { headers: { authorization } },
    )
    return { authorization, 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
  }

  it('is told of the resources that it subscribed to, on its stream', async () => {
    const all = service()
    const { served, values, read } = all
    const headers = await begin(all)
    const ask = (method: string, uri: unknown) => served.askLegacy(method, { uri }, { headers })
    expect((await ask('resources/subscribe', 'values://a')).result).toEqual({})
    expect((await ask('resources/subscribe', 'values://none')).error.code).toBe(-32002)
    const leaving = new AbortController()
    open.add(leaving)
    const stream = read(
      await served.handler(
        new Request('http://127.0.0.1/mcp', {
          headers: { ...headers, accept: 'text/event-stream' },
          signal: leaving.signal,
        }),
      ),
    )
    await new Promise(resolve => setTimeout(resolve, 50))
    values.a = '2'
    await eventually(() => expect(stream.messages()).toHaveLength(1))
    expect(stream.messages()[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'values://a' },
    })
    expect((await ask('resources/unsubscribe', 'values://a')).result).toEqual({})
    values.a = '3'
    values.c = 'new'
    await eventually(() => expect(stream.messages()).toHaveLength(2))
    expect(stream.messages()[1].method).toBe('notifications/resources/list_changed')
  })

  it('has at most 100 subscriptions, and needs to be known to listen', async () => {
    const all = service()
    const { served, values } = all
    for (let at = 0; at < 101; at++) values[`v${at}`] = '1'
    const headers = await begin(all)
    const subscribe = (at: number) =>
      served.askLegacy('resources/subscribe', { uri: `values://v${at}` }, { headers })
    for (let at = 0; at < 100; at++) expect((await subscribe(at)).result).toEqual({})
    expect((await subscribe(100)).error.code).toBe(-32602)
    const get = (more: Record<string, string>) =>
      served.handler(new Request('http://127.0.0.1/mcp', { headers: more }))
    expect((await get({ accept: 'text/event-stream', authorization: headers.authorization })).status).toBe(
      405,
    )
    expect((await get({ ...headers, accept: 'application/json' })).status).toBe(405)
    expect((await get({ accept: 'text/event-stream', 'mcp-session-id': 'x' })).status).toBe(401)
  })

  it('is forgotten for a newer one of the same client, and by nobody else', async () => {
    const calls = new ActiveCalls()
    const of = (id: string) => new Request('http://127.0.0.1/mcp', { headers: { 'mcp-session-id': id } })
    const mine = calls.settingsOf(of('mine'), 'ada')
    for (let at = 0; at < 20_000; at++) calls.settingsOf(of(`made up ${at}`), 'bob')
    expect(calls.settings(of('mine'))).toBe(mine)
    expect(calls.settings(of('made up 19899'))).toBeUndefined()
    expect(calls.settings(of('made up 19999'))).toBeDefined()
    for (let at = 0; at < 100; at++) calls.settingsOf(of(`other ${at}`), 'ada')
    expect(calls.settings(of('mine'))).toBeUndefined()
  })

  it('is told of the steps of its calls if it asks for that', async () => {
    const steps = new Agent({
      name: 'steps',
      register: false,
      async *run(_, { step }) {
        yield* step('reads', () => 1)
        yield 'done'
      },
    })
    const served = serve({ tools: true }, { agents: { steps } })
    const { headers } = await served.askLegacy('initialize', { protocolVersion: '2025-06-18' })
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    const call = () =>
      served.askLegacy('tools/call', { name: 'steps', arguments: { input: 'x' } }, { headers: session })
    expect(messagesIn((await call()).text)).toEqual([])
    const level = (value: unknown) =>
      served.askLegacy('logging/setLevel', { level: value }, { headers: session })
    expect((await level('loud')).error.code).toBe(-32602)
    expect((await level('info')).result).toEqual({})
    const told = messagesIn((await call()).text)
    expect(told.slice(0, -1)).toEqual(
      ['started', 'completed'].map(status => ({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', logger: 'steps', data: `reads: ${status}` },
      })),
    )
    expect(told.at(-1).result.content[0].text).toBe('done')
    expect((await level('error')).result).toEqual({})
    expect(messagesIn((await call()).text)).toEqual([])
  })
})
