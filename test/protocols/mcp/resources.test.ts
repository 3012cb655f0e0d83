/** Resources, prompts and completion. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { Agent, bearerAuth, memoryState } from '../../../src/index.ts'
import {
  type McpResource,
  mcpPrompts,
  mcpResources,
  ownConversations,
} from '../../../src/protocols/mcp/plugin.ts'
import { speaker } from '../../support.ts'
import { SHOWS_FORMS, serve } from './calling.ts'

const notes: Readonly<Record<string, readonly string[]>> = { ada: ['1', '2'], bob: ['3'] }

const ofUsers: McpResource = {
  name: 'note',
  mimeType: 'text/markdown',
  read: ({ identity, params: { id } }) =>
    notes[identity?.id ?? '']?.includes(id ?? '') ? `# ${identity?.id} ${id}` : undefined,
  list: ({ identity }) =>
    (notes[identity?.id ?? ''] ?? []).map(id => ({ uri: `notes://${id}`, title: `Note ${id}` })),
  complete: {
    id: (value, { identity }) => (notes[identity?.id ?? ''] ?? []).filter(id => id.startsWith(value)),
  },
}

const resources = mcpResources({
  'text://plain': { title: 'Plain', icons: [{ src: 'data:,x' }], read: () => 'Plain text' },
  'bytes://three': { mimeType: 'image/png', read: () => new Uint8Array([1, 2, 3]) },
  'page://own': { read: () => ({ text: '<b>', mimeType: 'text/html', _meta: { own: 1 } }) },
  'none://here': { read: () => undefined },
  'broken://here': {
    read() {
      throw new Error('the password is 1234')
    },
  },
  'huge://here': { read: () => 'x'.repeat(16 * 1024 * 1024 + 1) },
  'notes://{id}': ofUsers,
})

const prompts = mcpPrompts({
  review: {
    title: 'Review',
    arguments: {
      code: { required: true, description: 'What to review' },
      language: { complete: (value, { arguments: { code = '' } }) => [`${value}-${code.length}`] },
      many: { complete: () => Array.from({ length: 250 }, (_, at) => String(at)) },
    },
    get: ({ arguments: { code, language = 'any' } }) => `Review this ${language}: ${code}`,
  },
  asks: {
    get: ({ answers: { who } }) =>
      who === undefined
        ? {
            ask: {
              who: { message: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } } } },
            },
          }
        : [{ role: 'assistant', content: `It is ${JSON.stringify(who)}` }],
  },
})

const echo = new Agent({ name: 'echo', register: false, examples: ['Say hello', 'Say bye'], run: () => 'x' })
const tokens = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' }
const served = serve(
  { tools: true, resources, prompts, icons: [{ src: 'https://example.com/i.png' }] },
  { agents: { echo }, middleware: [bearerAuth({ tokens })] },
)
const as = (user: string, more = {}) => ({ headers: { authorization: `Bearer token-of-${user}` }, ...more })
const ask = (method: string, params: object = {}, more = {}) => served.ask(method, params, as('ada', more))
const asOld = (method: string, params: object = {}) => served.askLegacy(method, params, as('ada'))

describe('resources', () => {
  it('are announced, listed and read in each revision', async () => {
    const { result } = await ask('server/discover')
    expect(result.capabilities).toMatchObject({
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
    })
    const old = await asOld('initialize', { protocolVersion: '2025-06-18' })
    expect(old.result.capabilities).toMatchObject({
      resources: {},
      prompts: {},
      completions: {},
      logging: {},
    })
    expect(old.result.serverInfo.icons).toEqual([{ src: 'https://example.com/i.png' }])
    for (const each of [ask, asOld]) {
      const { result: all } = await each('resources/list')
      expect(all.resources.map(({ uri }: { uri: string }) => uri)).toEqual([
        'text://plain',
        ...['bytes://three', 'page://own', 'none://here', 'broken://here', 'huge://here'],
        ...['notes://1', 'notes://2'],
      ])
      expect(all.resources[0]).toEqual({
        ...{ uri: 'text://plain', name: 'text://plain', title: 'Plain', icons: [{ src: 'data:,x' }] },
      })
      expect((await each('resources/templates/list')).result.resourceTemplates).toEqual([
        { uriTemplate: 'notes://{id}', name: 'note', mimeType: 'text/markdown' },
      ])
      const read = async (uri: string) => (await each('resources/read', { uri })).result.contents[0]
      expect(await read('text://plain')).toMatchObject({ mimeType: 'text/plain', text: 'Plain text' })
      expect(await read('bytes://three')).toMatchObject({ mimeType: 'image/png', blob: 'AQID' })
      expect(await read('page://own')).toMatchObject({ mimeType: 'text/html', _meta: { own: 1 } })
      expect(await read('notes://2')).toMatchObject({ uri: 'notes://2', text: '# ada 2' })
    }
    const { result: page } = await ask('resources/read', { uri: 'text://plain' })
    expect(page).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    expect((await ask('resources/list')).result).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' })
  })

  it('that are not there, or are somebody else’s, are not found', async () => {
    for (const uri of [
      'notes://3',
      'none://here',
      'nowhere://x',
      'notes://..',
      'notes://1%2f2',
      '',
      7,
      null,
      ['notes://1'],
    ]) {
      const { error } = await served.ask(
        'resources/read',
        { uri },
        as('ada', { headers: { ...as('ada').headers, 'mcp-name': String(uri) } }),
      )
      expect(error, String(uri)).toMatchObject({ code: expect.toBeOneOf([-32602, -32020]) })
      expect((await asOld('resources/read', { uri })).error.code, String(uri)).toBe(-32002)
    }
    const { error } = await ask('resources/read', { uri: 'notes://3' })
    expect(error).toMatchObject({ code: -32602, data: { uri: 'notes://3' } })
    expect(
      (await served.ask('resources/read', { uri: 'notes://3' }, as('bob'))).result.contents[0].text,
    ).toBe('# bob 3')
    expect((await served.ask('resources/list')).status).toBe(401)
    expect((await served.askLegacy('resources/read', { uri: 'text://plain' })).status).toBe(401)
  })

  it('that fail or are too large tell nothing of why', async () => {
    const broken = await ask('resources/read', { uri: 'broken://here' })
    expect(broken.error.code).toBe(-32603)
    expect(broken.text).not.toContain('1234')
    const huge = await ask('resources/read', { uri: 'huge://here' })
    expect(huge.error).toMatchObject({ code: -32603, message: expect.stringContaining('16777216') })
    expect(huge.text.length).toBeLessThan(1000)
  })

  it('are not there where none are given', async () => {
    const bare = serve({ tools: true }, { agents: { echo } })
    for (const method of [
      'resources/list',
      'resources/read',
      'prompts/list',
      'prompts/get',
      'completion/complete',
    ])
      for (const each of [bare.ask, bare.askLegacy])
        expect((await each(method, { name: 'x', uri: 'x' })).error.code, method).toBe(-32601)
    expect((await bare.ask('server/discover')).result.capabilities).not.toHaveProperty('resources')
    expect((await bare.askLegacy('resources/subscribe', { uri: 'a://b' })).error.code).toBe(-32601)
    expect((await ask('resources/subscribe', { uri: 'text://plain' })).error.code).toBe(-32601)
  })

  it('have pages, and no cursor that is made up', async () => {
    const many = mcpResources({
      'many://{id}': {
        read: () => 'x',
        list: () => Array.from({ length: 11_000 }, (_, at) => ({ uri: `many://${at}` })),
      },
    })
    const large = serve({ tools: true, resources: many }, { agents: { echo } })
    const seen = new Set<string>()
    let cursor: string | undefined
    let pages = 0
    do {
      const { result } = await large.ask('resources/list', cursor === undefined ? {} : { cursor })
      for (const { uri } of result.resources) seen.add(uri)
      cursor = result.nextCursor
      pages++
    } while (cursor !== undefined)
    expect([seen.size, pages]).toEqual([10_000, 20])
    for (const made of ['501', '999999999', '-1', '1e3', 'x', '', 7, null, {}, '0x10'])
      expect((await large.ask('resources/list', { cursor: made })).error.code, String(made)).toBe(-32602)
  })

  it('are refused at the start if they cannot be', () => {
    for (const wrong of [
      { 'a://{x': { read: () => 'x' } },
      { bare: { read: () => 'x' } },
      { 'a://b': {} },
      { 'a://b': { read: () => 'x', more: 1 } },
    ])
      expect(() => mcpResources(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})

describe('the caller’s own conversations', () => {
  it('are transcripts that nobody else reads', async () => {
    const { ask: asked, handler } = serve(
      { tools: true, resources: mcpResources(ownConversations()) },
      {
        agents: { echo: speaker('echo', 'You said it') },
        middleware: [bearerAuth({ tokens })],
        plugins: [sessions()],
        state: memoryState(),
      },
    )
    const run = (sessionId: string) =>
      handler(
        new Request('http://127.0.0.1/api/agents/echo/run', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...as('ada').headers },
          body: JSON.stringify({ input: 'Hello *you*', sessionId }),
        }),
      )
    for (const id of ['one', 'of/two', 'with space']) expect((await run(id)).status).toBe(200)
    const list = async (user: string) => (await asked('resources/list', {}, as(user))).result.resources
    const uris = (await list('ada')).map(({ uri }: { uri: string }) => uri)
    expect(uris.sort()).toEqual([
      'servable://conversations/agent/echo/one',
      'servable://conversations/agent/echo/with%20space',
    ])
    expect(await list('bob')).toEqual([])
    const read = (user: string, uri: string) => asked('resources/read', { uri }, as(user))
    for (const uri of uris)
      expect((await read('ada', uri)).result.contents[0].text).toBe(
        '**User**\n\nHello *you*\n\n**echo**\n\nYou said it',
      )
    expect((await read('bob', uris[0])).error.code).toBe(-32602)
    expect((await read('ada', 'servable://conversations/thing/echo/one')).error.code).toBe(-32602)
    expect((await read('ada', 'servable://conversations/agent/none/one')).error.code).toBe(-32602)
  })
})

describe('prompts', () => {
  it('are those that are given, and the examples of agents', async () => {
    for (const each of [ask, asOld]) {
      const { result } = await each('prompts/list')
      expect(result.prompts.map(({ name }: { name: string }) => name)).toEqual([
        'echo-1',
        'echo-2',
        'review',
        'asks',
      ])
      expect(result.prompts[2].arguments[0]).toEqual({
        name: 'code',
        description: 'What to review',
        required: true,
      })
      const get = async (name: string, args = {}) =>
        (await each('prompts/get', { name, arguments: args })).result
      expect((await get('echo-2')).messages).toEqual([
        { role: 'user', content: { type: 'text', text: 'Say bye' } },
      ])
      const review = await get('review', { code: '1+1', unknown: 'left out' })
      expect(review.messages[0].content.text).toBe('Review this any: 1+1')
    }
  })

  it('refuse arguments that do not fit, and names that nobody has', async () => {
    for (const params of [
      { name: 'review' },
      { name: 'review', arguments: { code: 1 } },
      { name: 'review', arguments: 'code' },
      { name: 'review', arguments: { code: 'x'.repeat(65_537) } },
      { name: 'nothing' },
      { name: '__proto__' },
    ])
      for (const each of [ask, asOld]) expect((await each('prompts/get', params)).error.code).toBe(-32602)
  })

  it('may ask a person first, whom only some clients can ask', async () => {
    const shows = { capabilities: SHOWS_FORMS }
    const { result } = await ask('prompts/get', { name: 'asks' }, shows)
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: { mode: 'form', message: 'Who?' } } },
    })
    const answered = (action: string) => ({
      name: 'asks',
      inputResponses: { who: { action, content: { name: 'Ann' } } },
    })
    const done = await ask('prompts/get', answered('accept'), shows)
    expect(done.result.messages[0].content.text).toBe('It is {"name":"Ann"}')
    expect((await ask('prompts/get', answered('decline'), shows)).error.code).toBe(-32602)
    expect((await ask('prompts/get', { name: 'asks' })).error.code).toBe(-32602)
    expect((await asOld('prompts/get', { name: 'asks' })).error.code).toBe(-32602)
  })
})

describe('completion', () => {
  it('has at most 100 values, and knows the other arguments and who asks', async () => {
    const complete = (name: string, value: string, context = {}) =>
      ask('completion/complete', {
        ref: { type: 'ref/prompt', name: 'review' },
        argument: { name, value },
        context,
      })
    expect(
      (await complete('language', 'ts', { arguments: { code: 'abc' } })).result.completion.values,
    ).toEqual(['ts-3'])
    const { completion } = (await complete('many', '')).result
    expect(completion).toMatchObject({ total: 250, hasMore: true })
    expect(completion.values).toHaveLength(100)
    expect((await complete('code', 'x')).result.completion.values).toEqual([])
    expect((await complete('__proto__', 'x')).result.completion.values).toEqual([])
    const ref = { type: 'ref/resource', uri: 'notes://{id}' }
    const ofNote = (user: string) =>
      served.ask('completion/complete', { ref, argument: { name: 'id', value: '' } }, as(user))
    expect((await ofNote('ada')).result.completion.values).toEqual(['1', '2'])
    expect((await ofNote('bob')).result.completion.values).toEqual(['3'])
  })

  it('is refused for what nobody has', async () => {
    for (const params of [
      {},
      { ref: { type: 'ref/prompt', name: 'nothing' }, argument: { name: 'a', value: '' } },
      { ref: { type: 'ref/resource', uri: 'notes://1' }, argument: { name: 'id', value: '' } },
      { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'code' } },
      { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'code', value: 'x'.repeat(2001) } },
    ])
      expect((await ask('completion/complete', params)).error.code).toBe(-32602)
  })
})

describe('the official client', () => {
  it.each(['auto', 'legacy'] as const)('uses all of it: %s', async mode => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const fetch = (url: string | URL, init?: RequestInit) => served.handler(new Request(url, init))
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
        fetch: fetch as never,
        requestInit: { headers: as('ada').headers },
      }),
    )
    expect((await client.listResources()).resources).toHaveLength(8)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
    expect((await client.readResource({ uri: 'notes://1' })).contents[0]).toMatchObject({ text: '# ada 1' })
    expect((await client.listPrompts()).prompts).toHaveLength(4)
    const { messages } = await client.getPrompt({ name: 'review', arguments: { code: 'x' } })
    expect(messages[0]?.content).toEqual({ type: 'text', text: 'Review this any: x' })
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'many', value: '' },
    })
    expect(completion.total).toBe(250)
    await client.close()
  })
})

it('a listed agent without examples adds no prompt', async () => {
  const bare = serve({ tools: true, prompts: mcpPrompts() }, { agents: { quiet: speaker('quiet', 'x') } })
  expect((await bare.ask('prompts/list')).result.prompts).toEqual([])
})
