import SwaggerParser from '@apidevtools/swagger-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import * as examples from '../../../examples/agents.ts'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { localState } from '../../../src/core/local-state.ts'
import { budgets } from '../../../src/features/budgets/plugin.ts'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { schedule, schedules } from '../../../src/features/schedules/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  Agent,
  apiKeyAuth,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  MetricsExporter,
  type OpenApiDocument,
  type Operation,
  openapi,
  platform,
  Registry,
  type RunRecord,
  type RunResult,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { openai as openAi } from '../../../src/protocols/openai/plugin.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asking } from '../../contracts/fixture/asking.ts'
import { doing, restarting } from '../../contracts/fixture/restarting.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'
import { openGate } from '../../contracts/run-host/scripted.ts'

const options: HandlerOptions = {
  serve: Object.values(examples),
  registry: new Registry(),
  middleware: [identify],
  plugins: [
    sessions(),
    agUi(),
    openAi(),
    callerKeys({ authenticate: () => ({ id: 'ada' }) }),
    webhooks({ clients: true }),
    budgets({ maxTokens: 1e9, windowMs: 86_400_000, key: 'owner' }),
    schedules([schedule('echo', { cron: '@yearly', input: 'x', owner: 'ada' })], {
      authenticate: request => (request.headers.has('authorization') ? { id: 'ada' } : undefined),
    }),
  ],
  // Schedules need one that outlives the process.
  state: localState({ store: memoryStore(), retention: {}, isVolatile: false }),
  runs: { listAnonymous: true },
  logger: false,
  production: true,
  a2a: {
    default: 'echo',
    push: true,
    extendedCard: { authenticate: request => (request.url.includes('?me') ? { id: 'ada' } : undefined) },
  },
  fileUpload: true,
  toolLibrary: { add: { name: 'add', parameters: { type: 'object' }, execute: () => 3 } },
  toolkits: [{ name: 'empty', tools: [], configFields: [{ name: 'key', secret: true }] }],
  admin: {
    manager: new ToolServerManager({ register: false }),
    allow: ['tools.example.com'],
    authenticate: () => ({ id: 'ada' }),
  },
  metricsExporter: new MetricsExporter({ history: true }),
  providers: {
    'my provider': { header: 'x-my-api-key', matches: ['mine'] },
    my_provider: { header: 'x-mine', matches: ['ours'] },
  },
  swagger: {
    enabled: true,
    title: 'Examples',
    description: 'All of them',
    version: '2.1.0',
    servers: [{ url: 'http://127.0.0.1:8787', description: 'here' }],
  },
}

const handler = createHandler(options)
const ask = (path: string, init?: RequestInit) =>
  handler(new Request(`http://127.0.0.1${path}`, init), platform({ ip: '127.0.0.1' }))
const read = async (): Promise<OpenApiDocument> => (await ask('/api/docs/spec.json')).json()

const tokens = { token: 'ada' }
const bearerScheme = { type: 'http', scheme: 'bearer' } as const

/** A copy, since validators write on what they are given. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value))

describe('the OpenAPI document', () => {
  it('is 3.0.3 to two validators, with every part on and with none', async () => {
    for (const document of [await read(), openapi({ registry: false })]) {
      expect(document.openapi).toBe('3.0.3')
      await SwaggerParser.validate(copy(document) as never)
      const { valid, errors } = await new Validator().validate(copy(document) as never)
      expect(errors).toBeUndefined()
      expect(valid).toBe(true)
    }
  })

  it('says what it is told', async () => {
    const { info, servers } = await read()
    expect(info).toEqual({ title: 'Examples', version: '2.1.0', description: 'All of them' })
    expect(servers).toEqual([{ url: 'http://127.0.0.1:8787', description: 'here' }])
    expect(openapi({ registry: false }).info).toEqual({ title: 'API of the agents', version: '1.0.0' })
  })

  it('tells of slow uploads where there are uploads, and of too little room where something is kept', async () => {
    const problemsOf = ({ paths }: OpenApiDocument, path: string) =>
      Object.keys(paths[`/api/agents/{name}/${path}`]?.post?.responses ?? {})
    const [all, plain] = [await read(), openapi({ registry: false })]
    expect(problemsOf(all, 'run')).toContain('408')
    expect(problemsOf(plain, 'run')).not.toContain('408')
    for (const path of ['run', 'stream', 'corrections'])
      expect(problemsOf(plain, path), path).toContain('429')
  })

  it('has the key headers as security schemes, and needs none of them', async () => {
    const { components, paths } = await read()
    expect(Object.values(components.securitySchemes).map(({ name }) => name)).toEqual([
      'x-provider-a-api-key',
      'x-provider-b-api-key',
      'x-provider-c-api-key',
      'x-my-api-key',
      'x-mine',
      'x-api-key',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(components.securitySchemes.admin_token).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(paths['/api/agents/{name}/run']?.post?.security?.[0]).toEqual({})
  })

  it('names what is served, what comes later too, and not without end', async () => {
    const registry = new Registry()
    const later = { registry, logger: false } as const
    const namesOf = () => {
      const { parameters = [] } = openapi(later).paths['/api/agents/{name}/run']!.post!
      return (parameters[0]?.schema as { enum?: string[] } | undefined)?.enum
    }
    expect(namesOf()).toBeUndefined()
    new Agent({ name: 'late', run: () => 'x', register: registry })
    expect(namesOf()).toEqual(['late'])
    for (let index = 0; index < 300; index++)
      new Agent({ name: `a${index}`, run: () => 'x', register: registry })
    expect(namesOf()).toBeUndefined()
  })

  it('has each operation once', async () => {
    const { paths } = await read()
    const ids = Object.values(paths).flatMap(path =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan(20)
  })

  it('leaves out what is off', () => {
    const { paths, tags } = openapi({ registry: false, prefix: '/v1' })
    expect(Object.keys(paths)).toEqual([
      '/v1/agents/{name}/run',
      '/v1/agents/{name}/stream',
      '/v1/teams/{name}/run',
      '/v1/teams/{name}/stream',
      '/v1/workflows/{name}/run',
      '/v1/workflows/{name}/stream',
      '/v1/runs',
      '/v1/runs/{id}',
      '/v1/runs/{id}/stream',
      '/v1/runs/{id}/events',
      '/v1/runs/{id}/answers',
      '/v1/runs/{id}/resume',
      '/v1/runs/{id}/retry',
      '/v1/runs/{id}/cancel',
      '/v1/docs/spec.json',
      '/v1/agents/{name}/corrections',
      '/v1/agents/{name}/corrections/export',
      '/v1',
      '/v1/health',
    ])
    expect(tags.map(({ name }) => name)).not.toContain('metrics')
    const body = paths['/v1/agents/{name}/run']?.post?.requestBody as { content: object }
    expect(Object.keys(body.content)).toEqual(['application/json'])
  })

  it('stands at its own path, and is off unless it is enabled', async () => {
    const swagger = { enabled: true, specPath: '/api.json', routePrefix: '/behind/a/proxy' }
    const own = createHandler({ registry: false, swagger })
    const document: OpenApiDocument = await (await own(new Request('http://127.0.0.1/api/api.json'))).json()
    expect(Object.keys(document.paths)).toContain('/behind/a/proxy/api.json')
    for (const off of [undefined, { enabled: false }]) {
      const none = createHandler({ registry: false, ...(off && { swagger: off }) })
      expect((await none(new Request('http://127.0.0.1/api/docs/spec.json'))).status).toBe(404)
    }
  })
})

/** The schemas of the document for a checker of JSON Schema, which has no `nullable`. */
function nullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(nullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const { nullable: isNullable, ...rest } = schema as Record<string, unknown>
  const inner = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, nullable(value)]))
  return isNullable === true && Object.keys(inner).length > 0 ? { anyOf: [inner, { type: 'null' }] } : inner
}

describe('the page', () => {
  const htmlOf = async (path: string, options: HandlerOptions) => {
    const own = createHandler({ registry: false, logger: false, ...options })
    const headers = { accept: 'text/html' }
    const response = await own(new Request(`http://127.0.0.1${path}`, { headers }))
    return { own, html: await response.text() }
  }
  const assets = () => new Response('a file')

  it.each<[string, string, HandlerOptions]>([
    ['/api/docs', '/api/docs/assets', { swagger: { enabled: true, assets } }],
    ['/docs', '/docs/assets', { prefix: '', swagger: { enabled: true, assets } }],
  ])('at %s loads its files from %s, where they are', async (path, files, options) => {
    const { own, html } = await htmlOf(path, options)
    const loaded = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url!)
    expect(loaded).toHaveLength(4)
    for (const url of loaded) {
      expect(url.startsWith(`${files}/`), url).toBe(true)
      expect((await own(new Request(`http://127.0.0.1${url}`))).status, url).toBe(200)
    }
  })

  it('names paths as clients see them, where a proxy changes them', async () => {
    const { own, html } = await htmlOf('/api/docs', {
      swagger: { enabled: true, routePrefix: '/v1/ai', assets },
    })
    expect(html).toContain('src="/v1/ai/docs/assets/start.js"')
    expect(html).toContain('data-spec="/v1/ai/docs/spec.json"')
    expect((await own(new Request('http://127.0.0.1/api/docs/assets/start.js'))).status).toBe(200)
  })

  it('says nothing of the deployment', async () => {
    const { html } = await htmlOf('/api/docs', {
      agents: { secretive: { run: async () => ({ text: 'x' }) as never } },
      middleware: [apiKeyAuth({ tokens: { 'sk-canary': 'somebody' }, header: 'x-other-key' })],
      securitySchemes: {
        undisclosed: { type: 'apiKey', in: 'header', name: "x-'key'&", description: 'internal' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
      },
      swagger: { enabled: true, title: 'Our titles', description: 'internal', assets },
    })
    for (const word of ['secretive', 'canary', 'somebody', 'titles', 'internal', 'undisclosed', 'sid']) {
      expect(html, word).not.toContain(word)
    }
    // But the name of a header, as a refusal says it.
    expect(html).toContain('data-header="x-&#39;key&#39;&#38;"')
  })

  it.each<[string, HandlerOptions, string[], boolean]>([
    ['nobody', {}, [], false],
    ['bearerAuth', { middleware: [bearerAuth({ tokens })] }, ['authorization'], true],
    ['apiKeyAuth', { middleware: [apiKeyAuth({ tokens, header: 'X-Key' })] }, ['x-key'], true],
    [
      'both',
      { middleware: [bearerAuth({ tokens }), apiKeyAuth({ tokens })] },
      ['authorization', 'x-service-key'],
      true,
    ],
    ['its own middleware', { securitySchemes: { token: bearerScheme } }, ['authorization'], false],
    [
      'OpenID Connect and a cookie',
      {
        middleware: [bearerAuth({ tokens })],
        securitySchemes: {
          login: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known' },
          session: { type: 'apiKey', in: 'cookie', name: 'sid' },
        },
      },
      ['authorization'],
      true,
    ],
    [
      'whoever likes to',
      { middleware: [bearerAuth({ tokens })], security: [{}, { bearer: [] }] },
      ['authorization'],
      false,
    ],
  ])('asks for what the service wants: %s', async (_, options, headers, isFirst) => {
    const { html } = await htmlOf('/api/docs', { ...options, swagger: { enabled: true, assets } })
    expect([...html.matchAll(/data-header="([^"]*)"/g)].map(([, header]) => header)).toEqual(headers)
    expect(html.includes('data-ask="first"')).toBe(isFirst)
    expect(html).not.toMatch(/<input[^>]* name=/)
  })
})

describe('who is let in', () => {
  const { middleware: _, ...rest } = options
  const documentOf = (more: HandlerOptions) => openapi({ ...rest, ...more })
  /** The operations by what they demand, of those that say it themselves. */
  const saying = ({ paths }: OpenApiDocument, security: unknown) =>
    Object.values(paths)
      .flatMap(path => Object.values(path))
      .filter(operation => JSON.stringify(operation.security) === JSON.stringify(security))
      .map(({ operationId }) => operationId)
  const OPEN = [
    'getHealth',
    'getAgentCard',
    'getAgentCardByOldName',
    'getAgentCardOfAgent',
    'getAgentCardOfTeam',
    'getAgentCardOfWorkflow',
  ]
  const KEYS = [
    'x-provider-a-api-key',
    'x-provider-b-api-key',
    'x-provider-c-api-key',
    'x-my-api-key',
    'x-mine',
    'x-api-key',
  ]

  it.each<[string, HandlerOptions, object, object[]]>([
    ['bearerAuth', { middleware: [bearerAuth({ tokens })] }, { bearer: bearerScheme }, [{ bearer: [] }]],
    [
      'apiKeyAuth',
      { middleware: [apiKeyAuth({ tokens, header: 'X-Tenant-Key' })] },
      { 'x-tenant-key': { type: 'apiKey', in: 'header', name: 'X-Tenant-Key' } },
      [{ 'x-tenant-key': [] }],
    ],
    [
      'both, which both refuse',
      { middleware: [bearerAuth({ tokens }), (_r, _c, next) => next(), apiKeyAuth({ tokens })] },
      { bearer: bearerScheme, 'x-service-key': { type: 'apiKey' } },
      [{ bearer: [], 'x-service-key': [] }],
    ],
  ])('is told of ready-made authentication: %s', async (_, more, schemes, demanded) => {
    const document = documentOf(more)
    expect(document.components.securitySchemes).toMatchObject(schemes)
    expect(document.security).toEqual(demanded)
    expect(saying(document, [])).toEqual(expect.arrayContaining(OPEN))
    expect(saying(document, [])).toHaveLength(OPEN.length)
    const [demand] = demanded
    const run = document.paths['/api/agents/{name}/run']?.post
    expect(run?.security).toEqual([demand, ...KEYS.map(name => ({ ...demand, [name]: [] }))])
    await SwaggerParser.validate(copy(document) as never)
    expect(await new Validator().validate(copy(document) as never)).toMatchObject({ valid: true })
  })

  it('holds of what is answered', async () => {
    const own = createHandler({ ...rest, middleware: [bearerAuth({ tokens })], admin: false })
    const asked = async (path: string, headers?: Record<string, string>) =>
      (await own(new Request(`http://127.0.0.1${path}`, { headers: headers ?? {} }))).status
    const document = documentOf({ middleware: [bearerAuth({ tokens })], admin: false })
    for (const [path, { get }] of Object.entries(document.paths)) {
      // Some parts have an `authenticate` of their own.
      if (get === undefined || /^getExtended|Keys?$/.test(get.operationId)) continue
      const isOpen = JSON.stringify(get.security) === '[]'
      const at = path.replace('{name}', 'echo').replace(/\{\w+\}/g, 'x')
      expect((await asked(at)) === 401, at).toBe(!isOpen)
      if (!at.includes('stream') && !at.includes('subscribe')) {
        expect(await asked(at, { authorization: 'Bearer token' }), at).not.toBe(401)
      }
    }
  })

  it('is told of a deployment’s own middleware as it says', () => {
    const session = { type: 'apiKey', in: 'cookie', name: 'sid' } as const
    const document = documentOf({ securitySchemes: { session, token: bearerScheme } })
    expect(document.components.securitySchemes).toMatchObject({ session, token: bearerScheme })
    expect(document.security).toEqual([{ session: [] }, { token: [] }])
    // Nobody knows what it leaves open.
    expect(saying(document, [])).toEqual([])
    const together = [{ session: [], token: [] }]
    const both = documentOf({ securitySchemes: { session, token: bearerScheme }, security: together })
    expect(both.security).toEqual(together)
  })

  it('stands in place of what ready-made authentication says of itself', () => {
    const login = { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known' } as const
    const document = documentOf({ middleware: [bearerAuth({ tokens })], securitySchemes: { login } })
    expect(document.components.securitySchemes).not.toHaveProperty('bearer')
    expect(document.security).toEqual([{ login: [] }])
    expect(saying(document, [])).toHaveLength(OPEN.length)
  })

  it('is told of parts with an `authenticate` of their own', () => {
    const authenticate = () => ({ id: 'ada' })
    const document = documentOf({
      middleware: [bearerAuth({ tokens })],
      metricsExporter: new MetricsExporter({ authenticate }),
      a2a: { extendedCard: { authenticate, challenge: 'Basic realm="cards"' } },
    })
    expect(document.components.securitySchemes).toMatchObject({
      admin_token: { type: 'http', scheme: 'bearer' },
      metrics_token: { type: 'http', scheme: 'bearer' },
      card_token: { type: 'http', scheme: 'basic' },
    })
    expect(saying(document, [{ metrics_token: [] }])).toEqual([
      'scrapeMetrics',
      'getMetrics',
      'getMetricsHistory',
      'watchMetrics',
    ])
    expect(saying(document, [{ card_token: [] }])).toHaveLength(4)
    expect(saying(document, [{ admin_token: [] }]).length).toBeGreaterThan(5)
  })

  it('is not told where nobody says it', () => {
    const document = documentOf({ middleware: [(_request, _context, next) => next()] })
    expect(document).not.toHaveProperty('security')
    expect(saying(document, [])).toEqual([])
  })
})

describe('paths that are shared', () => {
  it('say all that is answered there', () => {
    const document = openapi(
      {
        prefix: '',
        registry: new Registry(),
        a2a: { basePath: '/agents' },
        toolLibrary: options.toolLibrary!,
      },
      { specPath: '/tools' },
    )
    expect(Object.keys(document.paths['/agents']!)).toEqual(['post', 'get'])
    expect(document.paths['/tools']?.get?.operationId).toBe('getSpec')
  })
})

describe('tenants of A2A', () => {
  it.each([
    ['/', false],
    ['/a2a', true],
  ])('have their paths where they are served, below %s', async (basePath, hasRpc) => {
    const tenants = { authorize: () => true }
    const document = openapi({ registry: new Registry(), a2a: { basePath, tenants } })
    const base = `${basePath === '/' ? '' : basePath}/{tenant}`
    const paths = ['/message:send', '/tasks/{id}', '/.well-known/agent-card.json'].map(path => base + path)
    for (const path of paths) expect(document.paths).toHaveProperty([path])
    expect(Object.hasOwn(document.paths, base)).toBe(hasRpc)
    expect(document.paths[`${base}/.well-known/agent-card.json`]?.get?.security).toBeUndefined()
    await SwaggerParser.validate(copy(document) as never)
    const without = openapi({ registry: new Registry(), a2a: { basePath } })
    expect(Object.keys(without.paths).join()).not.toContain('{tenant}')
  })
})

describe('the server', async () => {
  const document = await read()
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'doc', ...(nullable(copy({ components: document.components })) as object) })

  const answered = new Set<string>()

  /** Checks an answer against what is documented of it. */
  async function expectDocumented(path: string, method: string, response: Response): Promise<void> {
    const { responses } = document.paths[path]?.[method] ?? {}
    answered.add(`${method} ${path}`)
    const documented = (responses?.[String(response.status)] ?? responses?.default) as
      | { content?: Record<string, object> }
      | undefined
    expect(documented, `${method} ${path} answered ${response.status}`).toBeDefined()
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
    if (documented?.content === undefined) return
    expect(Object.keys(documented.content)).toContain(type)
    const { schema } = documented.content[type] as { schema: object }
    const own = JSON.parse(JSON.stringify(nullable(schema)).replaceAll('#/components', 'doc#/components'))
    const validate = ajv.compile(own)
    const text = await response.text()
    const bodies =
      type === 'text/event-stream'
        ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
        : [/\bjson\b/.test(type) ? JSON.parse(text) : text]
    expect(bodies.length).toBeGreaterThan(0)
    for (const body of bodies) {
      expect(
        validate(body),
        `${method} ${path}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(body)}`,
      ).toBe(true)
    }
  }

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, jsonRequest(body, headers))

  const names = { agent: ['echo', 'calculator', 'summarizer'], team: ['desk'], workflow: ['digest'] }
  const inputs = ['What is 2 * (3 + 4)?', 'A sentence. Another sentence, which is longer.']

  it.each(Object.entries(names))('answers runs and streams as documented: %s', async (kind, all) => {
    for (const name of all) {
      for (const input of inputs) {
        for (const way of ['run', 'stream']) {
          const response = await post(`/api/${kind}s/${name}/${way}`, { input })
          expect(response.status).toBe(200)
          await expectDocumented(`/api/${kind}s/{name}/${way}`, 'post', response)
        }
      }
    }
  })

  it.each(Object.entries(names))('answers clients of AG-UI as documented: %s', async (kind, [name]) => {
    const path = `/api/${kind}s/{name}/ag-ui`
    const tell = (given: object) => post(`/api/${kind}s/${name}/ag-ui`, given)
    await expectDocumented(path, 'get', await ask(`/api/${kind}s/${name}/ag-ui`))
    const validate = ajv.getSchema('doc#/components/schemas/RunAgentInput')
    const messages = [{ id: '1', role: 'user', content: [{ type: 'text', text: inputs[0] }] }]
    const body = { threadId: 't', runId: 'r', protocolVersion: '1.0', state: {}, messages }
    expect([validate?.(body), validate?.({ ...body, threadId: '' })]).toEqual([true, false])
    const response = await tell(body)
    expect(response.status).toBe(200)
    await expectDocumented(path, 'post', response)
    await expectDocumented(path, 'post', await tell({ ...body, messages: [] }))
    await expectDocumented(
      path,
      'post',
      await tell({ ...body, resume: [{ interruptId: 'x', status: 'cancelled' }] }),
    )
  })

  it('answers clients of OpenAI as documented', async () => {
    const model = 'echo'
    const completion = await post('/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'x' }],
    })
    await expectDocumented('/v1/chat/completions', 'post', completion)
    await expectDocumented('/v1/models', 'get', await ask('/v1/models'))
    await expectDocumented('/v1/models/{id}', 'get', await ask('/v1/models/nobody'))
    const made = await post('/v1/responses', { model, input: 'x', background: true })
    const { id } = await made.clone().json()
    await expectDocumented('/v1/responses', 'post', made)
    const at = `/v1/responses/${id}`
    await expectDocumented('/v1/responses/{id}/cancel', 'post', await ask(`${at}/cancel`, { method: 'POST' }))
    await expectDocumented('/v1/responses/{id}', 'get', await ask(at))
    await expectDocumented('/v1/responses/{id}/input_items', 'get', await ask(`${at}/input_items`))
    await expectDocumented('/v1/responses/{id}', 'delete', await ask(at, { method: 'DELETE' }))
  })

  it('answers administrators of schedules as documented', async () => {
    const at = '/api/schedules'
    const headers = { authorization: 'Bearer x' }
    for (const query of ['', '?limit=0'])
      await expectDocumented(at, 'get', await ask(at + query, { headers }))
    await expectDocumented(at, 'get', await ask(at))
    const operations = [
      ['get', ''],
      ['post', '/pause'],
      ['post', '/resume'],
      ['post', '/run'],
      ['get', ''],
    ] as const
    for (const [verb, path] of operations) {
      const method = verb.toUpperCase()
      const route = `${at}/{name}${path}`
      await expectDocumented(route, verb, await ask(`${at}/echo${path}`, { method, headers }))
      await expectDocumented(route, verb, await ask(`${at}/nobody${path}`, { method, headers }))
      await expectDocumented(route, verb, await ask(`${at}/echo${path}`, { method }))
    }
  })

  it('answers what is wrong as documented', async () => {
    const run = '/api/agents/{name}/run'
    await expectDocumented(run, 'post', await post('/api/agents/echo/run', {}))
    await expectDocumented(run, 'post', await post('/api/agents/nobody/run', { input: 'x' }))
    await expectDocumented(run, 'post', await ask('/api/agents/echo/run', { method: 'POST', body: 'x' }))
    await expectDocumented(run, 'post', await post('/api/agents/echo/run', { input: 'x'.repeat(2_000_000) }))
    const key = { 'idempotency-key': 'k' }
    await post('/api/agents/echo/run', { input: 'x' }, key)
    await expectDocumented(run, 'post', await post('/api/agents/echo/run', { input: 'y' }, key))
  })

  it('answers runs that wait as documented', async () => {
    const asked = createHandler({ agents: asking, registry: new Registry(), logger: false })
    const send = (path: string, body: object, headers: Record<string, string> = {}) =>
      asked(new Request(`http://127.0.0.1/api/${path}`, jsonRequest(body, headers)))
    const begin = async () => {
      const response = await send('agents/orders/run', { input: 'order' })
      const { runId, requests } = (await response.clone().json()) as RunResult
      await expectDocumented('/api/agents/{name}/run', 'post', response)
      const [approval, size] = requests ?? []
      return { path: `runs/${runId}/answers`, approval: approval?.id, size: size?.id }
    }
    const route = '/api/runs/{id}/answers'
    const { path, approval, size } = await begin()
    await expectDocumented(route, 'post', await send(path, { answers: [{ id: size }] }))
    await expectDocumented(route, 'post', await send(path, { answers: [{ id: size, value: 'M' }] }))
    const last = { answers: [{ id: approval, decision: 'approve' }] }
    await expectDocumented(route, 'post', await send(path, last))
    await expectDocumented(route, 'post', await send(path, last, { prefer: 'respond-async' }))
    await expectDocumented(route, 'post', await send(path, last, { accept: 'text/event-stream' }))
    await expectDocumented(route, 'post', await send(path, { answers: [{ id: approval, decision: 'deny' }] }))
    const record = await asked(new Request(`http://127.0.0.1/api/${path.replace('/answers', '')}`))
    expect(await record.clone().json()).toMatchObject({ continuedBy: expect.any(String) })
    await expectDocumented('/api/runs/{id}', 'get', record)
  })

  it('tells where budgets stand', async () => {
    await post('/api/agents/echo/run', { input: 'x' })
    for (const path of ['/api/budgets', '/api/budgets?agent=nobody'])
      await expectDocumented('/api/budgets', 'get', await ask(path))
    await expectDocumented('/api/budgets/all', 'get', await ask('/api/budgets/all'))
    await expectDocumented('/api/budgets/all', 'get', await ask('/api/budgets/all?limit=0'))
  })

  it('answers runs that go on or run again as documented', async () => {
    const { fetch, restart } = restarting({ runs: { keepInput: true } })
    const send = (path: string, headers: Record<string, string> = {}, body?: object) =>
      fetch(
        new Request(`http://127.0.0.1/api/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: body === undefined ? null : JSON.stringify(body),
        }),
      )
    const begun = async (body: object) =>
      (
        (await (
          await send('workflows/journalled/run', { prefer: 'respond-async', 'x-api-key': 'k' }, body)
        ).json()) as RunRecord
      ).id
    const [resumed, retried] = ['/api/runs/{id}/resume', '/api/runs/{id}/retry']
    const id = await begun(doing({ say: 'a' }, { step: 'one', gate: 'of-no-document', say: 'b' }))
    restart()
    openGate('of-no-document')
    const record = () => fetch(new Request(`http://127.0.0.1/api/runs/${id}`))
    expect(await (await record()).json()).toMatchObject({ resumable: true })
    await expectDocumented('/api/runs/{id}', 'get', await record())
    const verbs = [
      [resumed, 'resume'],
      [retried, 'retry'],
    ] as const
    for (const [route, verb] of verbs) {
      const path = `runs/${id}/${verb}`
      await expectDocumented(route, 'post', await send(path, { prefer: 'respond-async', 'x-api-key': 'k' }))
      await expectDocumented(
        route,
        'post',
        await send(path, { accept: 'text/event-stream', 'x-api-key': 'k' }),
      )
      await expectDocumented(route, 'post', await send(path, { 'x-api-key': 'k' }, { background: true }))
      await expectDocumented(route, 'post', await send(path, {}, { background: 1 }))
      await expectDocumented(route, 'post', await send(`runs/${crypto.randomUUID()}/${verb}`))
    }
    await expectDocumented(resumed, 'post', await send(`runs/${id}/resume`))
  })

  it.each([
    ['agent', 'echo'],
    ['team', 'desk'],
    ['workflow', 'digest'],
  ])('answers sessions as documented: %s', async (kind, name) => {
    const of = `/api/${kind}s/{name}/sessions/{id}`
    const made = await post('/api/sessions', { kind, name })
    const { id } = await made.clone().json()
    await expectDocumented('/api/sessions', 'post', made)
    await expectDocumented('/api/sessions', 'post', await post('/api/sessions', { name: 'nobody' }))
    await post(`/api/${kind}s/${name}/run`, { input: 'x', sessionId: id, messageId: 'm' })
    const path = `/api/${kind}s/${name}/sessions/${id}`
    for (const each of [path, `${path}x`]) {
      await expectDocumented(of, 'get', await ask(each))
      await expectDocumented(`${of}/messages`, 'get', await ask(`${each}/messages?limit=1`))
      await expectDocumented(`${of}/fork`, 'post', await post(`${each}/fork`, {}))
      const headers = { 'content-type': 'application/json' }
      const change = { method: 'PATCH', headers, body: '{"title":"Mine"}' }
      await expectDocumented(of, 'patch', await ask(each, change))
      await expectDocumented(`${of}/branches`, 'get', await ask(`${each}/branches`))
    }
    const { branches } = await (await ask(`${path}/branches`)).json()
    for (const runId of [branches[0].runId, 'x']) {
      const gone = await ask(`${path}/branches/${runId}`, { method: 'DELETE' })
      await expectDocumented(`${of}/branches/{runId}`, 'delete', gone)
    }
    await expectDocumented('/api/sessions', 'get', await ask('/api/sessions'))
    const headers = { 'x-test-user': 'ada' }
    await post('/api/sessions', { kind, name }, headers)
    await expectDocumented('/api/sessions', 'get', await ask('/api/sessions', { headers }))
    const run = await post(`/api/${kind}s/${name}/run`, { input: 'x', sessionId: id })
    const said = '/api/runs/{id}/feedback'
    const feedback = `/api/runs/${run.headers.get('x-run-id')}/feedback`
    const query = `?sessionId=${id}&kind=${kind}&name=${name}`
    await expectDocumented(said, 'get', await ask(feedback + query))
    for (const body of [{ score: 1, sessionId: id, kind, name }, { score: 2 }, { score: 1 }]) {
      await expectDocumented(said, 'post', await post(feedback, body))
    }
    await expectDocumented(said, 'get', await ask(feedback + query))
    const lines = await ask('/api/sessions/export', { headers })
    await expectDocumented('/api/sessions/export', 'get', lines)
    for (const each of [path, path, `${path}?running=stop`]) {
      await expectDocumented(of, 'delete', await ask(each, { method: 'DELETE' }))
    }
    for (const init of [{ method: 'DELETE' }, { method: 'DELETE', headers }]) {
      await expectDocumented('/api/users/me', 'delete', await ask('/api/users/me', init))
      await expectDocumented('/api/tenants/{tenant}', 'delete', await ask('/api/tenants/acme', init))
    }
  })

  it('answers everything else as documented', async () => {
    const accepted = await post('/api/agents/echo/run', { input: 'x' }, { prefer: 'respond-async' })
    const { id } = await accepted.clone().json()
    await expectDocumented('/api/agents/{name}/run', 'post', accepted)
    const form = new FormData()
    form.append('input', 'a form')
    form.append('files', new File(['x'], 'x.txt', { type: 'text/plain' }))
    await expectDocumented(
      '/api/agents/{name}/run',
      'post',
      await ask('/api/agents/echo/run', { method: 'POST', body: form }),
    )
    await expectDocumented('/api/runs/{id}/stream', 'get', await ask(`/api/runs/${id}/stream`))
    await expectDocumented('/api/runs/{id}/events', 'get', await ask(`/api/runs/${id}/events?limit=1`))
    await expectDocumented('/api/runs/{id}/events', 'get', await ask(`/api/runs/${id}/events?limit=0`))
    await expectDocumented('/api/runs/{id}', 'get', await ask(`/api/runs/${id}`))
    await expectDocumented('/api/runs/{id}', 'get', await ask(`/api/runs/${crypto.randomUUID()}`))
    await expectDocumented(
      '/api/runs/{id}/cancel',
      'post',
      await ask(`/api/runs/${id}/cancel`, { method: 'POST' }),
    )
    await expectDocumented('/api/runs', 'get', await ask('/api/runs?limit=2'))
    await expectDocumented('/api/runs/{id}', 'delete', await ask(`/api/runs/${id}`, { method: 'DELETE' }))
    await expectDocumented('/api/runs/{id}', 'delete', await ask(`/api/runs/${id}`, { method: 'DELETE' }))
    const correction = { originalValue: 1, correctedValue: null, tags: ['a'] }
    const corrections = '/api/agents/{name}/corrections'
    await expectDocumented(corrections, 'post', await post('/api/agents/echo/corrections', correction))
    await expectDocumented(corrections, 'post', await post('/api/agents/echo/corrections', {}))
    await expectDocumented(corrections, 'get', await ask('/api/agents/echo/corrections'))
    await expectDocumented(`${corrections}/export`, 'get', await ask('/api/agents/echo/corrections/export'))
    for (const path of [
      'agents',
      'teams',
      'workflows',
      'registry',
      'tools',
      'metrics',
      'metrics/json',
      'metrics/history',
      'health',
      'docs/spec.json',
    ]) {
      await expectDocumented(`/api/${path}`, 'get', await ask(`/api/${path}`))
    }
    await expectDocumented('/api/metrics/json', 'get', await ask('/api/metrics/json?agent=echo'))
    await expectDocumented('/api/tools/{name}', 'get', await ask('/api/tools/add'))
    await expectDocumented('/api/tools/{name}', 'get', await ask('/api/tools/nobody'))
    await expectDocumented('/.well-known/agent-card.json', 'get', await ask('/.well-known/agent-card.json'))
    await expectDocumented(
      '/',
      'post',
      await post('/', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } }),
    )
  })

  it('answers about webhooks as documented', async () => {
    const headers = { 'content-type': 'application/json', 'x-test-user': 'ann' }
    const send = (method: string, path: string, body?: unknown) =>
      ask(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const all = '/api/webhooks'
    // An address at which nothing answers, so that no name is looked up.
    const added = await send('POST', all, { url: 'https://1.1.1.1/', agents: ['nobody'] })
    await expectDocumented(all, 'post', added.clone())
    const { id } = await added.json()
    await expectDocumented(all, 'post', await send('POST', all, { url: 'x' }))
    await expectDocumented(all, 'get', await send('GET', all))
    await expectDocumented(all, 'get', await ask(all))
    for (const one of [id, 'nobody']) {
      await expectDocumented(`${all}/{id}`, 'get', await send('GET', `${all}/${one}`))
      await expectDocumented(`${all}/{id}`, 'patch', await send('PATCH', `${all}/${one}`, { enabled: false }))
      await expectDocumented(`${all}/{id}/secret`, 'post', await send('POST', `${all}/${one}/secret`, {}))
      for (const base of [all, '/api/admin/webhooks']) {
        const tested = await send('POST', `${base}/${one}/test`)
        await expectDocumented(`${base}/{id}/test`, 'post', tested.clone())
        const { id: delivery = 'none' } = await tested.json()
        await expectDocumented(
          `${base}/{id}/deliveries`,
          'get',
          await send('GET', `${base}/${one}/deliveries`),
        )
        await expectDocumented(
          `${base}/{id}/deliveries/{delivery}`,
          'get',
          await send('GET', `${base}/${one}/deliveries/${delivery}`),
        )
        const replay = `${base}/${one}/deliveries/${delivery}/replay`
        await expectDocumented(
          `${base}/{id}/deliveries/{delivery}/replay`,
          'post',
          await send('POST', replay),
        )
      }
      for (const base of [all, '/api/admin/webhooks'])
        await expectDocumented(
          `${base}/deliveries`,
          'get',
          await send('GET', `${base}/deliveries?webhook=${one}`),
        )
      await expectDocumented('/api/admin/webhooks', 'get', await ask('/api/admin/webhooks'))
      await expectDocumented(`${all}/{id}`, 'delete', await send('DELETE', `${all}/${one}`))
    }
  })

  it('answers administrators as documented', async () => {
    const mcp = '/api/admin/mcp'
    const body = {
      name: 'nowhere',
      transport: 'http',
      url: 'https://nowhere.invalid/mcp',
      autoConnect: false,
    }
    const added = await post(mcp, body)
    await expectDocumented(mcp, 'post', added.clone())
    const { id } = await added.json()
    await expectDocumented(mcp, 'post', await post(mcp, body))
    await expectDocumented(mcp, 'post', await post(mcp, {}))
    await expectDocumented(mcp, 'get', await ask(mcp))
    for (const one of [id, 'nobody']) {
      await expectDocumented(`${mcp}/{id}`, 'get', await ask(`${mcp}/${one}`))
      await expectDocumented(`${mcp}/{id}/tools`, 'get', await ask(`${mcp}/${one}/tools`))
      for (const act of ['connect', 'disconnect', 'sign-in']) {
        await expectDocumented(
          `${mcp}/{id}/${act}`,
          'post',
          await ask(`${mcp}/${one}/${act}`, { method: 'POST' }),
        )
      }
      await expectDocumented(`${mcp}/{id}`, 'delete', await ask(`${mcp}/${one}`, { method: 'DELETE' }))
    }
    await expectDocumented('/api/admin/sign-in', 'get', await ask('/api/admin/sign-in?state=none&code=1'))
    const followed = await post('/api/agents/echo/run', { input: 'x', background: true })
    const { runId } = await followed.json()
    for (const one of [runId.slice(0, 8), 'nobody']) {
      await expectDocumented('/api/admin/runs/{id}', 'get', await ask(`/api/admin/runs/${one}`))
    }
    await expectDocumented('/api', 'get', await ask('/api'))
    await expectDocumented('/api/admin/toolkits', 'get', await ask('/api/admin/toolkits'))
    const call = '/api/admin/tools/{id}/call'
    await expectDocumented(call, 'post', await post('/api/admin/tools/nothing/call', { args: {} }))
    await expectDocumented(
      call,
      'post',
      await post('/api/admin/tools/multiply/call', { args: { a: 1, b: 2 } }),
    )
    for (const one of ['empty', 'nothing']) {
      await expectDocumented('/api/admin/toolkits/{id}', 'get', await ask(`/api/admin/toolkits/${one}`))
    }
  })

  it('answers about keys as documented', async () => {
    const keys = '/api/keys'
    const issued = await post(keys, { owner: 'ada', name: 'x', scopes: ['run'], rate: { max: 5 } })
    await expectDocumented(keys, 'post', issued.clone())
    await expectDocumented(keys, 'post', await post(keys, {}))
    const { id } = await issued.json()
    for (const query of ['', '?owner=ada', '?limit=x']) {
      await expectDocumented(keys, 'get', await ask(keys + query))
    }
    const send = (path: string, method: string, body: object) =>
      ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    for (const one of [id, 'nobody']) {
      const path = `${keys}/${one}`
      await expectDocumented(`${keys}/{id}`, 'get', await ask(path))
      const change = { name: 'y', rate: null, expiresAt: '2100-01-01T00:00:00Z' }
      await expectDocumented(`${keys}/{id}`, 'patch', await send(path, 'PATCH', change))
      await expectDocumented(`${keys}/{id}/rotate`, 'post', await send(`${path}/rotate`, 'POST', {}))
      await expectDocumented(`${keys}/{id}`, 'delete', await ask(path, { method: 'DELETE' }))
      await expectDocumented(`${keys}/{id}/rotate`, 'post', await send(`${path}/rotate`, 'POST', {}))
    }
  })

  type Place = [documented: string, base: string]
  const places: Place[] = [
    ['', ''],
    ['/agents/{name}', '/agents/echo'],
    ['/teams/{name}', `/teams/${names.team[0]}`],
    ['/workflows/{name}', `/workflows/${names.workflow[0]}`],
  ]

  /** Asks below one of the places, and checks the answer. */
  async function check([documented, base]: Place, ask: A2AAsk): Promise<Response> {
    const { path, method = 'GET', own = path, body } = ask
    const headers = { 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await handler(new Request(`http://127.0.0.1${base + own || '/'}`, init))
    await expectDocumented(documented + path || '/', method.toLowerCase(), response.clone())
    return response
  }

  const send = async (place: Place, messageId: string): Promise<string> => {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
    const sent = await check(place, { method: 'POST', path: '/message:send', body: { message } })
    expect(sent.status).toBe(200)
    return (await sent.json()).task.id
  }

  it.each(places)('answers A2A as documented: %s', async (...place) => {
    await check(place, { path: '/.well-known/agent-card.json' })
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: {} }
    await check(place, { method: 'POST', path: '', body })
    const id = await send(place, `m${place[1]}`)
    const message = { messageId: `s${place[1]}`, role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
    const streamed = await check(place, { method: 'POST', path: '/message:stream', body: { message } })
    expect(streamed.status).toBe(200)
    expect((await check(place, { path: '/tasks', own: '/tasks?pageSize=2' })).status).toBeLessThan(500)
    expect((await check(place, { path: '/tasks/{id}', own: `/tasks/${id}` })).status).toBe(200)
    await check(place, { path: '/tasks/{id}', own: '/tasks/nobody' })
    await check(place, { method: 'POST', path: '/message:send', body: {} })
    for (const [verb, method] of [
      ['cancel', 'POST'],
      ['subscribe', 'GET'],
      ['subscribe', 'POST'],
    ] as const) {
      await check(place, { method, path: `/tasks/{id}:${verb}`, own: `/tasks/${id}:${verb}` })
    }
    await expectDocumented('/.well-known/agent.json', 'get', await ask('/.well-known/agent.json'))
  })

  it.each(places)('answers with the extended card as documented: %s', async (...place) => {
    for (const [query, status] of [
      ['', 401],
      ['?me', 200],
    ] as const) {
      const read = await check(place, { path: '/extendedAgentCard', own: `/extendedAgentCard${query}` })
      expect(read.status).toBe(status)
      const body = { jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }
      const called = await check(place, {
        method: 'POST',
        path: '',
        own: place[1] === '' ? `/${query}` : query,
        body,
      })
      expect(called.status).toBe(status)
    }
  })

  it.each(places)('answers push notification configs as documented: %s', async (...place) => {
    const path = '/tasks/{id}/pushNotificationConfigs'
    // An address, so that no name is looked up.
    const body = { id: 'c', url: 'https://1.1.1.1/' }
    for (const [task, status] of [
      [await send(place, `p${place[1]}`), 200],
      ['nobody', 404],
    ] as const) {
      const own = `/tasks/${task}/pushNotificationConfigs`
      const one = { path: `${path}/{config}`, own: `${own}/c` }
      for (const asked of [
        { method: 'POST', path, own, body },
        { path, own },
        one,
        { ...one, method: 'DELETE' },
      ]) {
        expect((await check(place, asked)).status).toBe(status)
      }
    }
  })

  it('tells what happens as documented', async () => {
    const watching = await ask('/api/metrics/stream')
    const reader = watching.body!.pipeThrough(new TextDecoderStream()).getReader()
    const started = reader.read()
    await post('/api/agents/calculator/run', { input: 'What is 2 * 3?' })
    let text = (await started).value ?? ''
    while (!text.includes('run.complete')) text += (await reader.read()).value
    await reader.cancel()
    expect(text).toContain('tool.call')
    await expectDocumented('/api/metrics/stream', 'get', new Response(text, watching))
  })

  it('runs the examples of the document', async () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, example: exampleOf(operation) })),
    )
    const shown = operations.filter(({ example }) => example !== undefined)
    expect(shown.length).toBeGreaterThan(6)
    for (const { path, method, example } of shown) {
      const kind = /\/(agent|team|workflow)s\//.exec(path)?.[1] as keyof typeof names | undefined
      const response = await post(path.replace('{name}', names[kind ?? 'agent'][0]!), example)
      expect(response.status, path).toBeLessThan(300)
      await expectDocumented(path, method, response)
    }
  })

  it('was asked for every operation that is documented', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method} ${path}`),
    )
    expect(answered).toEqual(new Set(documented))
  })
})

/** What is asked for, and at which documented path. */
interface A2AAsk {
  readonly path: string
  readonly method?: string
  readonly own?: string
  readonly body?: unknown
}

/** What the document shows as a JSON body of an operation. */
function exampleOf({ requestBody }: Operation): unknown {
  const { content } = (requestBody ?? {}) as { content?: Record<string, { example?: unknown }> }
  return content?.['application/json']?.example
}
