/** What is offered, and how a deployment says so. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Agent, createHandler, Registry, sequence, Team, textOf } from '../../../src/index.ts'
import {
  directTools,
  type McpOptions,
  mcp,
  mcpAuth,
  mcpTasks,
  toJsonSchema,
} from '../../../src/protocols/mcp/plugin.ts'
import { speaker, untyped } from '../../support.ts'
import { serve } from './calling.ts'

const echo = new Agent({
  name: 'echo',
  description: 'Says it again',
  register: false,
  run: input => textOf(input),
})

/** What `mcp` says of options, or what the handler says of them. */
function refusalOf(options: unknown, handlerOptions: object = {}): string {
  try {
    const plugins = [mcp(untyped<McpOptions>(options))]
    createHandler({
      registry: new Registry(),
      logger: false,
      plugins,
      ...handlerOptions,
    })
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_options' })
    return (error as Error).message
  }
  return 'none'
}

const AUTH = { authorizationServers: ['https://login.example'] }

describe('mcp', () => {
  it.each([
    [{}, /offers nothing: name agents in `mcp\.tools`, or give `true`/],
    [{ tools: undefined }, /offers nothing/],
    [{ tools: 'echo' }, /`mcp\.tools` must be true or an array of names/],
    [{ tools: false }, /`mcp\.tools` must be true or an array of names/],
    [{ tools: [1] }, /`mcp\.tools\.0` must be a name, or an object with `of`/],
    [{ tools: [{ of: 1 }] }, /`mcp\.tools\.0\.of` must be the name of a servable/],
    [{ tools: [{ of: 'echo', name: 'a b' }] }, /`mcp\.tools\.0\.name` must have 1 to 64 characters/],
    [{ tools: [{ of: 'echo', name: '' }] }, /`mcp\.tools\.0\.name` must have 1 to 64 characters/],
    [{ tools: [{ of: 'echo', name: 'x'.repeat(65) }] }, /`mcp\.tools\.0\.name` must have 1 to 64 characters/],
    [{ tools: [{ of: 'echo', taskSupport: 'never' }] }, /`mcp\.tools\.0\.taskSupport` must be `forbidden`/],
    [{ tools: [{ of: 'echo', annotations: 'none' }] }, /`mcp\.tools\.0\.annotations` must be/],
    [{ tools: [{ of: 'echo', description: 1 }] }, /`mcp\.tools\.0\.description` must be text/],
    [{ tools: [{ of: 'echo', describtion: 'x' }] }, /`mcp\.tools\.0\.describtion` is not a known field/],
    [{ tools: ['echo', 'echo'] }, /two tools are named `echo`: give one of `mcp\.tools` a `name`/],
    [{ tools: ['a.b', 'a_b'] }, /two tools are named `a_b`/],
    [{ tools: ['echo', { of: 'other', name: 'echo' }] }, /two tools are named `echo`/],
    [{ tools: true, path: 7 }, /`mcp\.path` must/],
    [{ tools: true, name: 1 }, /`mcp\.name` must be text/],
    [{ tools: true, version: 1 }, /`mcp\.version` must be text/],
    [{ tools: true, title: 1 }, /`mcp\.title` must be text/],
    [{ tools: true, instructions: [] }, /`mcp\.instructions` must be text/],
    [{ tools: true, toJsonSchema: 'valibot' }, /`mcp\.toJsonSchema` must be a function/],
    [{ tools: true, allowedHosts: 'h' }, /`mcp\.allowedHosts` must/],
    [{ tools: true, allowedHosts: [1] }, /`mcp\.allowedHosts\.0` must/],
    [{ tools: true, secret: 'x'.repeat(31) }, /`mcp\.secret` must have at least 32 characters/],
    [{ tools: true, secret: 1 }, /`mcp\.secret` must/],
    [{ tools: true, tasks: true }, /`mcp\.tasks` must/],
    [{ tools: true, directTools: [] }, /`mcp\.directTools` must/],
    [{ tools: true, auth: true }, /`mcp\.auth` must/],
    [{ tools: true, tool: true }, /`mcp\.tool` is not a known field/],
    [null, /`mcp` must/],
    ['echo', /`mcp` must/],
  ])('refuses %j, and names the field', (options, message) => {
    expect(refusalOf(options)).toMatch(message)
  })

  it.each([
    [{}, /`mcpAuth\.authorizationServers` is missing/],
    [{ authorizationServers: [] }, /`mcpAuth\.authorizationServers` must name at least one/],
    [{ authorizationServers: ['login'] }, /authorizationServers\.0` must be an absolute URL/],
    [{ ...AUTH, resource: '/mcp' }, /`mcpAuth\.resource` must be an/],
    [{ ...AUTH, scopes: 'all' }, /`mcpAuth\.scopes` must/],
    [{ ...AUTH, verify: true }, /`mcpAuth\.verify` must/],
    [{ ...AUTH, audience: 'x' }, /`mcpAuth\.audience` is not a known field/],
  ])('refuses %j of `mcpAuth`, and names the field', (options, message) => {
    expect(() => mcpAuth(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringMatching(message) }),
    )
  })

  it('needs an address where its tokens are for it', () => {
    const auth = mcpAuth(AUTH)
    expect(refusalOf({ tools: true, auth })).toMatch(/`mcpAuth` needs `resource`, or the handler `publicUrl`/)
    expect(refusalOf({ tools: true, auth }, { publicUrl: 'https://h.example' })).toBe('none')
    const own = mcpAuth({ ...AUTH, resource: 'https://h.example/mcp' })
    expect(refusalOf({ tools: true, auth: own })).toBe('none')
  })

  it('says what it is, unless it is told', async () => {
    const { result } = await serve({ tools: true }).ask('server/discover')
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      _meta: {
        'io.modelcontextprotocol/serverInfo': {
          name: 'servable',
          version: expect.any(String),
        },
      },
    })
    expect(result).not.toHaveProperty('instructions')
    expect(result.capabilities).toEqual({ tools: { listChanged: true } })
    const info = { name: 'desk', version: '7', title: 'The desk' }
    const named = serve({
      tools: true,
      ...info,
      instructions: 'Be kind',
      tasks: mcpTasks(),
    })
    const discovered = (await named.ask('server/discover')).result
    expect(discovered._meta['io.modelcontextprotocol/serverInfo']).toEqual(info)
    expect(discovered.instructions).toBe('Be kind')
    expect(Object.keys(discovered.capabilities.extensions)).toEqual(['io.modelcontextprotocol/tasks'])
    const begun = (await named.askLegacy('initialize', { protocolVersion: '2025-06-18' })).result
    expect(begun).toMatchObject({
      protocolVersion: '2025-06-18',
      serverInfo: info,
      instructions: 'Be kind',
    })
  })

  it('has a path of its own, whatever the prefix', async () => {
    const served = serve({ tools: true, path: '/tools/mcp' }, { prefix: '/v9' })
    const { status } = await served.ask('server/discover', {}, { url: 'http://127.0.0.1/tools/mcp' })
    expect(status).toBe(200)
    expect((await served.ask('server/discover')).status).toBe(404)
  })

  it('takes POST, and GET of a session that listens', async () => {
    const { handler } = serve()
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await handler(new Request('http://127.0.0.1/mcp', { method }))
      expect([status, headers.get('allow')]).toEqual([405, expect.stringMatching(/OPTIONS, POST$/)])
    }
  })
})

describe('mcpTasks', () => {
  it.each([
    [{ afterMs: -1 }, 'afterMs'],
    [{ afterMs: '1s' }, 'afterMs'],
    [{ afterMs: Number.NaN }, 'afterMs'],
    [{ pollIntervalMs: 0.5 }, 'pollIntervalMs'],
    [{ after: 1 }, 'after'],
  ])('refuses %j', (options, field) => {
    expect(() => mcpTasks(untyped(options))).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining(`.${field}\``),
      }),
    )
  })
})

describe('directTools', () => {
  const add = { name: 'add', execute: () => 1 }

  it.each([
    [{ toolkits: 'add' }, 'toolkits'],
    [{ toolkits: [add] }, 'toolkits.0.tools'],
    [{ toolkits: [{ name: 'kit', tools: [{ name: 'add' }] }] }, 'toolkits.0.tools.0.execute'],
    [{ toolServers: 'manager' }, 'toolServers'],
    [{ only: 'add' }, 'only'],
    [{ taskSupport: 'never' }, 'taskSupport'],
    [{ tools: [add] }, 'tools'],
  ])('refuses %j', (options, field) => {
    expect(() => directTools(untyped(options))).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining(`.${field}\``),
      }),
    )
  })

  it('refuses two tools of one name', () => {
    const kit = (...names: string[]) => ({
      name: 'kit',
      tools: names.map(name => ({ ...add, name })),
    })
    for (const toolkits of [[kit('add', 'add')], [kit('add'), kit('add')], [kit('a.b'), kit('a_b')]])
      expect(refusalOf({ directTools: directTools({ toolkits }) })).toMatch(/two tools are named `(add|a_b)`/)
    const only = directTools({ toolkits: [kit('a.b'), kit('a_b')], only: ['a_b'] })
    expect(refusalOf({ directTools: only })).toBe('none')
    const both = { tools: [{ of: 'x', name: 'add' }], directTools: directTools({ toolkits: [kit('add')] }) }
    expect(refusalOf(both)).toMatch(/two tools are named `add`/)
  })
})

describe('names', () => {
  it('of all that is served are offered, each once and in the same order', async () => {
    const run = () => 'x'
    const served = serve(
      { tools: true },
      {
        agents: {
          desk: { run: async () => untyped(run()) },
          'a.b': echo,
          a_b: speaker('a_b', 'second'),
        },
        teams: { desk: { run: async () => untyped(run()) } },
        workflows: {
          desk: { run: async () => untyped(run()) },
          onboard: { run: async () => untyped(run()) },
        },
      },
    )
    const names = (await served.list()).map(({ name }) => name)
    expect(names).toEqual(['desk', 'a_b', 'team_desk', 'workflow_desk', 'onboard'])
    expect((await served.list()).map(({ name }) => name)).toEqual(names)
    // The tool that is listed is the one that is called.
    expect((await served.call('a_b', { input: 'first' })).result.content[0].text).toBe('first')
  })

  it('are looked up at each request', async () => {
    const registry = new Registry()
    const served = serve({ tools: ['late', 'team/late'] }, { registry })
    expect(await served.list()).toEqual([])
    expect((await served.call('late')).error.code).toBe(-32602)
    new Agent({ name: 'late', register: registry, run: () => 'here' })
    expect((await served.list()).map(({ name }) => name)).toEqual(['late'])
    expect((await served.call('late')).result.content[0].text).toBe('here')
    registry.unregister('agent', 'late')
    expect(await served.list()).toEqual([])
    expect((await served.call('late')).error.code).toBe(-32602)
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'agent/', 'agent/echo', 'echo.'])(
    'that nothing has are not found: %s',
    async name => {
      const { status, error } = await serve({ tools: true }, { agents: { echo } }).call(name, { input: 'x' })
      expect([status, error.code]).toEqual([200, -32602])
      expect(error.message.length).toBeLessThan(200)
    },
  )

  it('choose an agent before a team, and a kind where one is named', async () => {
    const agents = { desk: speaker('desk', 'the agent') }
    const members = [speaker('member', 'the team')]
    const team = new Team({
      name: 'desk',
      register: false,
      members,
      strategy: sequence,
    })
    const served = serve({ tools: ['desk', 'team/desk'] }, { agents, teams: { desk: team } })
    expect((await served.call('desk')).result.content[0].text).toBe('the agent')
    expect((await served.list()).map(({ name }) => name)).toEqual(['desk', 'team_desk'])
  })
})

describe('a tool', () => {
  it('is told as the deployment says', async () => {
    const of = {
      of: 'echo',
      name: 'say',
      title: 'Say',
      description: 'Speaks',
      annotations: { readOnlyHint: true },
    }
    const served = serve({ tools: [of, 'echo'] }, { agents: { echo } })
    const [said, plain] = await served.list()
    expect(said).toMatchObject({
      ...{
        name: 'say',
        title: 'Say',
        description: 'Speaks',
        annotations: { readOnlyHint: true },
      },
      inputSchema: { type: 'object', required: ['input'] },
    })
    expect(said).not.toHaveProperty('of')
    expect(plain).toMatchObject({
      name: 'echo',
      description: 'Says it again',
      annotations: { openWorldHint: true },
    })
    expect(plain).not.toHaveProperty('outputSchema')
    expect(plain).not.toHaveProperty('title')
  })

  it('without a description is told of in the log', async () => {
    const mute = speaker('mute', 'x')
    const { log, ask } = serve({ tools: ['mute', 'echo'] }, { agents: { mute, echo } })
    await ask('server/discover')
    const told = log.filter(({ event }) => event === 'mcp.tool')
    expect(told.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'The tool `mute` has no description: models choose by it'],
    ])
  })

  it.each([
    [
      'plain JSON Schema',
      {
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      },
    ],
    ['zod', z.object({ n: z.number() })],
    ['valibot', v.object({ n: v.number() })],
    [
      'any library',
      {
        '~standard': {
          version: 1,
          vendor: 'any',
          validate: (value: object) => ('n' in value ? { value } : { issues: [{ message: 'needs n' }] }),
          jsonSchema: {
            input: () => ({
              type: 'object',
              properties: { n: { type: 'number' } },
              required: ['n'],
            }),
          },
        },
      },
    ],
  ])('shows schemas of %s', async (_, schema) => {
    const shown = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
    }
    const adds = new Agent({
      ...{
        name: 'adds',
        description: 'Adds',
        register: false as const,
        output: schema,
      },
      run: () => ({ structured: { n: 2 } }),
    })
    const served = serve({ tools: [{ of: 'adds', input: schema }], toJsonSchema }, { agents: { adds } })
    const [tool] = await served.list()
    expect(tool.inputSchema).toMatchObject(shown)
    expect(tool.outputSchema).toMatchObject(shown)
    expect((await served.call('adds', { n: 1 })).result).toMatchObject({
      structuredContent: { n: 2 },
    })
    const { status, result } = await served.call('adds', {})
    expect([status, result?.isError]).toEqual([200, true])
    expect(served.log.filter(({ event }) => event === 'mcp.tool')).toEqual([])
  })

  it('takes any arguments where its schema cannot be shown, and warns of an output that is not shown', async () => {
    const input = v.object({ n: v.number() })
    const adds = new Agent({
      ...{
        name: 'adds',
        description: 'Adds',
        register: false as const,
        output: input,
      },
      run: () => ({ structured: { n: 2 } }),
    })
    const served = serve({ tools: [{ of: 'adds', input }] }, { agents: { adds } })
    const [tool] = await served.list()
    expect(tool.inputSchema).toEqual({ type: 'object' })
    expect(tool).not.toHaveProperty('outputSchema')
    // It is checked all the same.
    expect((await served.call('adds', { n: 'x' })).result.isError).toBe(true)
    const [warning] = served.log.filter(({ event }) => event === 'mcp.tool')
    expect(warning?.message).toContain('give `mcp` the `toJsonSchema` of `servable/mcp`')
  })

  it('shows no output that is no object, and none of a schema that throws', async () => {
    const throwing = {
      '~standard': {
        version: 1,
        vendor: 'x',
        jsonSchema: {
          input: () => {
            throw new Error('no')
          },
        },
      },
    }
    const agents = Object.fromEntries(
      [z.string(), { type: 'array' }, throwing, 7, null].map((output, at) => [
        `a${at}`,
        new Agent({
          name: `a${at}`,
          description: 'x',
          register: false,
          output,
          run: () => 'x',
        }),
      ]),
    )
    const tools = await serve({ tools: true }, { agents }).list()
    expect(tools.length).toBe(5)
    for (const tool of tools) expect(tool).not.toHaveProperty('outputSchema')
  })

  it('that fails to give its structured output says so', async () => {
    const output = { type: 'object', properties: { n: { type: 'number' } } }
    const mute = new Agent({
      name: 'mute',
      register: false,
      output,
      run: () => 'only words',
    })
    const { result } = await serve({ tools: true }, { agents: { mute } }).call('mute')
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'only words' }],
    })
  })
})

describe('a list', () => {
  it('has pages, and refuses a cursor that is none', async () => {
    const agents = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`a${at}`, echo]))
    const { ask } = serve({ tools: true }, { agents })
    const first = (await ask('tools/list')).result
    expect([first.tools.length, first.nextCursor]).toEqual([500, '500'])
    const second = (await ask('tools/list', { cursor: first.nextCursor })).result
    expect(second.tools.map(({ name }: { name: string }) => name)).toEqual(['a500'])
    expect(second).not.toHaveProperty('nextCursor')
    for (const cursor of [
      '',
      '-1',
      'x',
      '1.5',
      '1e3',
      500,
      null,
      {},
      [],
      ['0'],
      '9'.repeat(10),
      'x'.repeat(100_000),
    ])
      expect((await ask('tools/list', { cursor })).error).toMatchObject({
        code: -32602,
      })
    expect((await ask('tools/list', { cursor: '500000' })).result.tools).toEqual([])
  })

  it('is kept by whoever has asked, where somebody is known', async () => {
    const middleware = [
      (_: unknown, context: { identity?: object }, next: () => unknown) => {
        context.identity = { id: 'ann' }
        return next()
      },
    ]
    const scopeOf = async (options: object) =>
      (await serve({ tools: true }, options).ask('tools/list')).result.cacheScope
    expect([await scopeOf({}), await scopeOf({ middleware })]).toEqual(['public', 'private'])
  })
})
