/** What the plugins of a handler add to its document, those of this package and those of others. */
import SwaggerParser from '@apidevtools/swagger-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import {
  type CoreOptions,
  createHandler,
  type Description,
  memoryState,
  type Plugin,
} from '../../../src/core-entry.ts'
import { admin } from '../../../src/features/admin/plugin.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { MetricsExporter, metrics } from '../../../src/features/metrics/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { corrections } from '../../../src/features/small/corrections.ts'
import { tools } from '../../../src/features/small/tools.ts'
import { uploads } from '../../../src/features/small/uploads.ts'
import { Agent, type LogEntry, type OpenApiDocument } from '../../../src/index.ts'
import { a2a } from '../../../src/protocols/a2a/plugin.ts'
import { eventSocket } from '../../../src/protocols/event-socket/gateway/plugin.ts'
import { openapi } from '../../../src/protocols/openapi/plugin.ts'

const agents = { echo: new Agent({ name: 'echo', run: () => 'hello', register: false }) }

async function documentOf(plugins: readonly Plugin[], options: CoreOptions = {}): Promise<OpenApiDocument> {
  const handler = createHandler({
    agents,
    state: memoryState(),
    registry: false,
    production: false,
    ...options,
    plugins,
  })
  const response = await handler(new Request('http://127.0.0.1/api/docs/spec.json'))
  expect(response.status).toBe(200)
  return response.json()
}

async function expectValid(document: OpenApiDocument): Promise<void> {
  // Validators write on what they are given.
  const copy = () => JSON.parse(JSON.stringify(document))
  const { errors } = await new Validator().validate(copy())
  expect(errors).toBeUndefined()
  // It follows references too.
  await SwaggerParser.validate(copy())
}

const pathsOf = ({ paths }: OpenApiDocument) => Object.keys(paths)
const schemasOf = ({ components }: OpenApiDocument) => Object.keys(components.schemas)
const tagsOf = ({ tags }: OpenApiDocument) => tags.map(({ name }) => name)

/** A plugin that does nothing else than describe itself. */
const telling = (name: string, describe: (document: { readonly prefix: string }) => Description): Plugin => ({
  name,
  mount: () => ({ describe }),
})

const operation = (operationId: string, ...tags: readonly string[]) => ({
  operationId,
  summary: 'It',
  tags,
  responses: { 200: { description: 'Done' } },
})

const authenticate = () => ({ id: 'ada' })

/** What the paths of a plugin say, where that is not its name. */
const NAMED: Readonly<Record<string, RegExp>> = {
  a2a: /agent|team|workflow|^\/$|message|tasks/i,
  files: /^\/api\/runs\/\{id\}\/(artifacts|messages|input)/,
  sessions: /sessions|feedback|users\/me|tenants/,
}

describe('the document of a handler with plugins', () => {
  const all: Record<string, () => Plugin> = {
    corrections,
    uploads,
    tools,
    files,
    sessions,
    eventSocket,
    admin: () => admin({ authenticate }),
    metrics: () => metrics(new MetricsExporter({ authenticate })),
    keys: () => callerKeys({ authenticate }),
    a2a: () => a2a({ push: true, extendedCard: { authenticate } }),
  }

  it.each(Object.entries(all))('is whole with %s alone', async (_, make) => {
    await expectValid(await documentOf([openapi(), make()]))
  })

  it('tells of what is mounted, wherever the plugin stands, and of nothing else', async () => {
    const bare = await documentOf([openapi()])
    await expectValid(bare)
    expect(tagsOf(bare)).toEqual(['run', 'runs', 'discovery', 'operation'])
    expect(Object.keys(bare.components.securitySchemes)).not.toContain('card_token')
    for (const [name, make] of Object.entries(all)) {
      if (name === 'uploads' || name === 'eventSocket') continue
      const [before, after] = [await documentOf([make(), openapi()]), await documentOf([openapi(), make()])]
      expect(after).toEqual(before)
      const added = pathsOf(after).filter(path => !pathsOf(bare).includes(path))
      expect(added, name).not.toEqual([])
      const word = NAMED[name] ?? new RegExp(name)
      for (const path of added) expect(path).toMatch(word)
    }
  })

  it('demands the tokens of plugins that ask for them', async () => {
    const made = Object.values(all).map(make => make())
    const { paths, components } = await documentOf([openapi(), ...made])
    const demanded = (path: string) => paths[path]?.get?.security
    expect(demanded('/api/metrics')).toEqual([{ metrics_token: [] }])
    expect(demanded('/api/admin/mcp')).toEqual([{ admin_token: [] }])
    expect(demanded('/api/keys')).toEqual([{ keys_token: [] }])
    expect(demanded('/extendedAgentCard')).toEqual([{ card_token: [] }])
    expect(demanded('/tasks')).toBeUndefined()
    expect(Object.keys(components.securitySchemes).slice(-4).sort()).toEqual([
      'admin_token',
      'card_token',
      'keys_token',
      'metrics_token',
    ])
    const open = await documentOf([openapi(), metrics(new MetricsExporter())])
    expect(open.paths['/api/metrics']?.get?.security).toBeUndefined()
    expect(open.components.securitySchemes).not.toHaveProperty('metrics_token')
  })
})

describe("a third party's plugin in the document", () => {
  const tickets = telling('tickets', ({ prefix }) => ({
    tags: [{ name: 'tickets', description: 'What people ask for' }],
    paths: {
      [`${prefix}/tickets/{id}`]: {
        get: {
          ...operation('getTicket', 'tickets'),
          parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
          responses: {
            200: {
              description: 'The ticket',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Ticket' } } },
            },
          },
        },
        delete: {
          ...operation('deleteTicket', 'tickets'),
          parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
          security: [],
        },
      },
    },
    schemas: {
      Ticket: { type: 'object', properties: { run: { $ref: '#/components/schemas/RunRecord' } } },
    },
    securitySchemes: { desk: { type: 'http', scheme: 'bearer' } },
    security: [{ desk: [] }],
  }))

  it('has its tag, paths, schemas and what it demands', async () => {
    const document = await documentOf([openapi(), tickets, metrics(new MetricsExporter())])
    await expectValid(document)
    expect(tagsOf(document)).toEqual(['run', 'runs', 'discovery', 'metrics', 'tickets', 'operation'])
    const { get, delete: remove } = document.paths['/api/tickets/{id}']!
    expect(get).toMatchObject({ operationId: 'getTicket', tags: ['tickets'], security: [{ desk: [] }] })
    expect(remove?.security).toEqual([])
    expect(document.components.schemas).toHaveProperty('Ticket')
    expect(document.components.securitySchemes.desk).toEqual({ type: 'http', scheme: 'bearer' })
  })

  it('stands under the prefix that the document states', async () => {
    const document = await documentOf([openapi({ routePrefix: '/behind/a/proxy' }), tickets])
    expect(pathsOf(document)).toContain('/behind/a/proxy/tickets/{id}')
  })

  it("stands with the core's on runs where it is on runs", async () => {
    const ndjson = telling('ndjson', () => ({
      paths: { '/ndjson': { post: operation('runAsLines', 'run') } },
    }))
    const paths = pathsOf(await documentOf([openapi(), tickets, ndjson]))
    expect(paths.indexOf('/ndjson')).toBeLessThan(paths.indexOf('/api/health'))
    expect(paths.indexOf('/api/tickets/{id}')).toBeGreaterThan(paths.indexOf('/api/health'))
  })

  it('may stand in the place of the index', async () => {
    const page: Plugin = {
      name: 'page',
      mount: ({ prefix }) => ({
        routes: [{ method: 'GET', path: prefix, endpoint: () => new Response('mine') }],
        describe: () => ({ paths: { [prefix]: { get: operation('getPage', 'page') } } }),
      }),
    }
    const { paths } = await documentOf([openapi(), page])
    expect(paths['/api']?.get?.operationId).toBe('getPage')
  })

  it('is asked for each document, with what it is by then', async () => {
    const names = ['One']
    const growing = telling('growing', () => ({
      schemas: Object.fromEntries(names.map(name => [name, { type: 'object' }])),
    }))
    const handler = createHandler({ agents, plugins: [openapi(), growing] })
    const read = async (): Promise<OpenApiDocument> =>
      (await handler(new Request('http://127.0.0.1/api/docs/spec.json'))).json()
    expect(schemasOf(await read())).not.toContain('Two')
    names.push('Two')
    expect(schemasOf(await read())).toContain('Two')
  })
})

describe('a plugin that cannot describe itself', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const wrong: Record<string, readonly [RegExp, () => unknown]> = {
    throws: [
      /^no idea$/,
      () => {
        throw new Error('no idea')
      },
    ],
    'says nothing': [/undefined/, () => undefined],
    'says what is no JSON': [/BigInt/, () => ({ schemas: { Mine: { maximum: 1n } } })],
    'says what has no end': [/circular/i, () => ({ schemas: { Mine: cycle } })],
    'says a path without a slash': [/paths\.mine/, () => ({ schemas: { Mine: {} }, paths: { mine: {} } })],
    'says tags that are none': [
      /paths\.\/mine\.get\.tags/,
      () => ({ paths: { '/mine': { get: { ...operation('mine'), tags: 'run' } } } }),
    ],
    'says an operation that is none': [/paths\.\/mine\.get/, () => ({ paths: { '/mine': { get: 'it' } } })],
  }

  it.each(Object.entries(wrong))(
    'is left out, and the log is told: it %s',
    async (_, [message, describe]) => {
      const entries: LogEntry[] = []
      const logger = (entry: LogEntry) => void (entry.event !== 'request' && entries.push(entry))
      const fine = telling('fine', () => ({ schemas: { Fine: { type: 'object' } } }))
      const made = [openapi(), telling('broken', describe as () => Description), fine]
      const document = await documentOf(made, { logger })
      await expectValid(document)
      expect(schemasOf(document)).toContain('Fine')
      expect(schemasOf(document)).not.toContain('Mine')
      expect(entries).toMatchObject([{ level: 'error', event: 'plugin.failed', plugin: 'broken' }])
      expect(entries[0]?.message).toMatch(message)
    },
  )
})

describe('plugins that say something under one name', () => {
  it("leave what is the core's as it is", async () => {
    const bare = await documentOf([openapi()])
    const thief = telling('thief', ({ prefix }) => ({
      tags: [{ name: 'operation', description: 'Mine' }],
      paths: {
        [`${prefix}/health`]: { get: operation('mine', 'thief') },
        [`${prefix}/runs/{run}`]: { delete: operation('deleteRun', 'thief') },
        '/other': { get: operation('listRuns', 'thief') },
      },
      schemas: { Problem: { type: 'string' }, RunBody: { type: 'string' } },
      securitySchemes: { 'x-api-key': { type: 'http', scheme: 'basic' } },
    }))
    const names = Object.keys(bare.components.securitySchemes)
    expect(names).toContain('x-api-key')
    expect(await documentOf([openapi(), thief])).toEqual(bare)
  })

  it('are told of in the order in which they were given', async () => {
    const one = (name: string, method: string): Plugin =>
      telling(name, () => ({
        tags: [{ name: 'shared', description: name }],
        paths: { '/shared': { [method]: operation(`${method}By`, name), post: operation('post', name) } },
        schemas: { Shared: { description: name } },
      }))
    const document = await documentOf([openapi(), one('first', 'get'), one('second', 'delete')])
    await expectValid(document)
    const { get, post, delete: remove } = document.paths['/shared']!
    expect([get, post, remove].map(each => each?.tags)).toEqual([['first'], ['first'], ['second']])
    expect(document.tags).toContainEqual({ name: 'shared', description: 'first' })
    expect(document.components.schemas.Shared).toEqual({ description: 'first' })
  })
})
