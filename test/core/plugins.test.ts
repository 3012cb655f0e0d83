/** What plugins of others may do to a handler and to each other. */
import { describe, expect, it } from 'vitest'
import {
  type BegunRun,
  corrections,
  keeping,
  type Mounted,
  memoryState,
  type Plugin,
  type PluginCore,
  type PluginRoute,
  rateLimit,
  ServableError,
} from '../../src/core-entry.ts'
import { createHandler as createWhole, type HandlerOptions } from '../../src/index.ts'
import { a2a } from '../../src/protocols/a2a/plugin.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { beginLife } from '../../src/runs/life.ts'
import { speaker, untyped } from '../support.ts'
import { answering, refusalOf, served } from './kit.ts'

const agents = { echo: speaker('echo', 'one', 'two') }
const mounting = (name: string, mount: (core: PluginCore) => unknown): Plugin => ({
  name,
  mount: core => mount(core) as Mounted,
})
const endpoint = (name: string, answer: PluginRoute['endpoint']): Plugin =>
  mounting(name, () => ({ routes: [{ method: 'GET', path: `/${name}`, endpoint: answer }] }))

describe('two handlers in one process', () => {
  it('have each its own plugins', async () => {
    const seen: string[] = []
    const watching = (name: string): Plugin => ({
      ...answering(name, `/${name}`),
      observer: { start: ({ name: agent }) => void seen.push(`${name} ${agent}`) },
    })
    const [first, second] = [served([watching('red')], { agents }), served([watching('blue')], { agents })]
    const statuses = [first, second].map(async ({ get }) => [
      (await get('/red')).status,
      (await get('/blue')).status,
    ])
    expect(await Promise.all(statuses)).toEqual([
      [200, 404],
      [404, 200],
    ])
    await first.post('/api/agents/echo/run')
    expect(seen).toEqual(['red echo'])
  })

  it('mount one plugin each for itself', async () => {
    const cores: PluginCore[] = []
    const plugin = mounting('shared', core => {
      cores.push(core)
      return {}
    })
    served([plugin], { prefix: '/one' })
    served([plugin], { prefix: '/two' })
    expect(cores.map(({ prefix }) => prefix)).toEqual(['/one', '/two'])
  })
})

describe('plugins that do not go together', () => {
  it.each([
    ['the same twice', [answering('red'), answering('red')], /two plugins named `red`/],
    ['one route', [answering('red', '/x'), answering('blue', '/x')], /`red` and `blue` both answer GET \/x/],
    [
      'one route, with other names of parameters',
      [answering('red', '/x/:a/y'), answering('blue', '/x/:b/y')],
      /`red` and `blue` both answer GET \/x\/:b\/y/,
    ],
    [
      'a route that never answers',
      [answering('red', '/x/:a'), answering('blue', '/x/y')],
      /`red` and `blue` both/,
    ],
    [
      "a route of the core's",
      [answering('red', '/api/health')],
      /the core and `red` both answer GET \/api\/health/,
    ],
    ['its own route twice', [answering('red', '/x', '/x')], /`red` and `red` both answer/],
    ['a slash more', [answering('red', '/x'), answering('blue', '/x//')], /both answer GET \/x:/],
  ])('are refused: %s', (_, plugins, message) => {
    const { code, message: told } = refusalOf(plugins)
    expect([code, told]).toEqual(['invalid_options', expect.stringMatching(message)])
  })

  it("are refused where one of the core's comes before", () => {
    const { code, message } = refusalOf([answering('red', '/api/runs/mine')], { state: memoryState() })
    expect([code, message]).toEqual(['invalid_options', expect.stringMatching(/the core and `red`/)])
  })

  it('may answer other methods of a path, and what an earlier one leaves', async () => {
    const { get, post } = served([
      answering('red', '/x', '/x/y'),
      mounting('blue', () => ({
        routes: [
          { method: 'POST', path: '/x', endpoint: () => new Response('posted') },
          { method: 'GET', path: '/x/:any', endpoint: () => new Response('blue') },
        ],
      })),
    ])
    const answers = [await get('/x'), await post('/x'), await get('/x/y'), await get('/x/z')]
    expect(await Promise.all(answers.map(answer => answer.text()))).toEqual(['red', 'posted', 'red', 'blue'])
  })

  it('stand at the root, where the prefix is', async () => {
    const at = (path: string) =>
      mounting('red', ({ prefix }) => ({
        routes: [{ method: 'GET', path: `${prefix}${path}`, endpoint: () => new Response('red') }],
      }))
    const { get } = served([at('/agents/:name/lines')], { prefix: '/' })
    expect(await (await get('/agents/echo/lines')).text()).toBe('red')
  })
})

describe('a base', () => {
  const guarded = (name: string, path: string, ...more: readonly string[]): Plugin => {
    const { mount } = answering(name, `${path}/open`, ...more)
    return mounting(name, core => ({
      ...mount?.(core),
      base: {
        path,
        guard: () => {
          throw new ServableError('forbidden', 'Not you')
        },
      },
    }))
  }

  it('guards everything at and below its path, and nothing else', async () => {
    const { get } = served([guarded('red', '/red', '/elsewhere'), answering('blue', '/redder', '/blue')])
    const status = async (path: string, init?: RequestInit) => (await get(path, init)).status
    for (const path of [
      '/red',
      '/red/',
      '/red/open',
      '/red/nothing',
      '/red/a/b/c',
      '/red/open?x',
      '/red/%6Fpen',
    ]) {
      expect([path, await status(path)]).toEqual([path, 403])
    }
    expect(await status('/red/open', { method: 'DELETE' })).toBe(403)
    expect(await status('/red/open', { method: 'HEAD' })).toBe(403)
    expect([await status('/redder'), await status('/blue'), await status('/elsewhere')]).toEqual([
      200, 200, 200,
    ])
    expect(await status('/api/health')).toBe(200)
    expect(await status('/re')).toBe(404)
  })

  it.each([
    ["another's route below it", answering('blue', '/red/blue'), /GET \/red\/blue, at or below \/red/],
    ["another's route at it", answering('blue', '/red'), /GET \/red, at or below \/red/],
    [
      "another's route that may be below it",
      answering('blue', '/:any/blue'),
      /GET \/:any\/blue, at or below \/red/,
    ],
    ["another's base below it", guarded('blue', '/red/blue'), /`red` and `blue`/],
    ["another's base above it", guarded('blue', '/'), /`blue` and (the core|`red`)/],
  ])('stands alone: %s is refused', (_, other, message) => {
    const refused = { code: 'invalid_options', message: expect.stringMatching(message) }
    expect(refusalOf([guarded('red', '/red'), other])).toMatchObject(refused)
    expect(refusalOf([other, guarded('red', '/red')])).toMatchObject({ code: 'invalid_options' })
  })

  it('is shared by OpenAI and A2A 0.3, and each answers for its own', async () => {
    const { get } = served([openai(), a2a()], { agents, state: memoryState() })
    const wrongOf = async (path: string) => (await get(path)).json()
    expect(await wrongOf('/v1/tasks/1')).toMatchObject({ error: 'TaskNotFoundError' })
    expect(await wrongOf('/v1/files')).toMatchObject({ error: { code: 'not_found' } })
    expect((await get('/v1/models')).status).toBe(200)
  })

  it('does not stand over routes of the core', () => {
    expect(refusalOf([guarded('red', '/api/agents')]).message).toMatch(
      /`red` and the core both serve \w+ \/api\/agents/,
    )
  })

  it('answers a guard that throws, or gives no response, as everything else', async () => {
    const broken = (name: string, guard: () => unknown) =>
      mounting(name, () => ({ base: { path: `/${name}`, guard } }))
    const { get, logged } = served(
      [
        broken('thrown', () => {
          throw new Error('secret')
        }),
        broken('nothing', () => undefined),
      ],
      { production: true },
    )
    for (const path of ['/thrown/x', '/nothing']) {
      const answer = await get(path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
      expect(await answer.text()).not.toContain('secret')
    }
    expect(logged).toMatchObject([{ part: 'thrown', message: 'secret' }, { part: 'nothing' }])
    expect((await get('/api/health')).status).toBe(200)
  })
})

describe('what is no plugin', () => {
  it.each([
    ['no list', {}, /`plugins` must be an array of plugins/],
    ['undefined in it', [undefined], /plugins/],
    ['no name', [{ mount: () => ({}) }], /plugins.*must be a plugin/],
    ['a name with a colon', [{ name: 'core:session' }], /must be a plugin/],
    ['a name that is no text', [{ name: 7 }], /must be a plugin/],
    ['an empty name', [{ name: '' }], /must be a plugin/],
    ['a `mount` that is no function', [{ name: 'red', mount: {} }], /must be a plugin/],
    ['a factory that was not called', [a2a], /must be a plugin/],
  ])('is refused: %s', (_, plugins, message) => {
    expect(refusalOf(plugins)).toMatchObject({
      code: 'invalid_options',
      message: expect.stringMatching(message),
    })
  })

  it.each([
    ['a promise', async () => ({}), /`mount` must not be async/],
    [
      'a route without a slash',
      () => ({ routes: [{ method: 'GET', path: 'x', endpoint() {} }] }),
      /`GET x` must have/,
    ],
    [
      'another method',
      () => ({ routes: [{ method: 'get', path: '/x', endpoint() {} }] }),
      /`get \/x` must have/,
    ],
    ['no endpoint', () => ({ routes: [{ method: 'GET', path: '/x' }] }), /`GET \/x` must have/],
    ['no route', () => ({ routes: [undefined] }), /must have/],
    ['a base without a slash', () => ({ base: { path: 'red' } }), /`base.path` must be/],
    ['a base with a parameter', () => ({ base: { path: '/:red' } }), /`base.path` must be/],
  ])('and what is mounted wrongly is refused by name: %s', (_, mount, message) => {
    const refusal = refusalOf([mounting('red', mount)])
    expect(refusal.code).toBe('invalid_options')
    expect(refusal.message).toContain('`red` could not be mounted')
    expect(refusal.message).toMatch(message)
  })

  it('is told with everything else that is wrong, in one error', () => {
    const make = () =>
      createWhole(
        untyped<HandlerOptions>({ gateway: 7, prefix: 1, swagger: { path: 2 }, plugins: [{ name: '' }] }),
      )
    for (const name of ['gateway', 'prefix', 'swagger', 'plugins']) expect(make).toThrow(new RegExp(name))
  })
})

describe('a plugin that throws', () => {
  it.each([
    ['an error', new Error('no luck'), 'invalid_options', '`plugins`: `red` could not be mounted: no luck'],
    ['no error', 'no luck', 'invalid_options', '`plugins`: `red` could not be mounted: no luck'],
    [
      'its own refusal',
      new ServableError('invalid_options', '`key` must be text'),
      'invalid_options',
      '`key` must be text',
    ],
    [
      'what says nothing of options',
      new ServableError('agent_not_found', 'no agent'),
      'invalid_options',
      '`plugins`: `red` could not be mounted: no agent',
    ],
  ])('in `mount`, %s, makes no handler', (_, thrown, code, message) => {
    const plugin = mounting('red', () => {
      throw thrown
    })
    expect(refusalOf([plugin])).toMatchObject({ code, message })
  })

  const ways: readonly (readonly [string, PluginRoute['endpoint'], RegExp])[] = [
    [
      'an error at once',
      () => {
        throw new Error('the secret')
      },
      /the secret/,
    ],
    ['an error later', () => Promise.reject(new Error('the secret')), /the secret/],
    ['what is no error', () => Promise.reject('the secret'), /the secret/],
    ['nothing at all', () => Promise.reject(undefined), /undefined/],
    ['no response', () => untyped('the secret'), /must return a Response/],
    ['a promise of no response', async () => untyped(undefined), /must return a Response/],
    ['a response that is none', () => Response.error(), /must return a Response/],
  ]
  it.each(ways)('in an endpoint, %s, is answered and told once', async (_, answer, told) => {
    const { get, logged } = served([endpoint('red', answer), answering('blue', '/blue')], {
      production: true,
    })
    const answered = await get('/red')
    expect([answered.status, answered.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
    const { error, requestId } = await answered.json()
    expect([error, logged.length]).toEqual(['Internal server error', 1])
    expect(logged[0]).toMatchObject({ level: 'error', event: 'request.failed', part: 'red', requestId })
    expect(logged[0]?.message).toMatch(told)
    expect(await (await get('/blue')).text()).toBe('blue')
  })

  it('in an endpoint, by code, is answered with that, and nobody is told', async () => {
    const { get, logged } = served([
      endpoint('red', () => {
        throw new ServableError('forbidden', 'Not today')
      }),
    ])
    expect(await (await get('/red')).json()).toMatchObject({
      status: 403,
      code: 'forbidden',
      error: 'Not today',
    })
    expect(logged).toEqual([])
  })

  it('names whose endpoint gives no response', async () => {
    const { get } = served([endpoint('red', () => untyped(7))])
    expect(await (await get('/red')).json()).toMatchObject({ error: expect.stringContaining('`red`') })
  })

  it('in middleware is answered, for every part', async () => {
    const { get, logged } = served([
      mounting('red', () => ({
        middleware: () => {
          throw new Error('broken')
        },
      })),
    ])
    expect((await get('/api/health')).status).toBe(500)
    expect(logged).toMatchObject([{ event: 'request.failed', message: 'broken' }])
  })

  it('in `close` keeps no other from closing', async () => {
    const closed: string[] = []
    const closing = (name: string, close: () => void | Promise<void>) => mounting(name, () => ({ close }))
    const { handler, logged } = served([
      closing('thrown', () => {
        throw new Error('one')
      }),
      closing('rejected', () => Promise.reject(new Error('two'))),
      closing('fine', () => void closed.push('fine')),
    ])
    const [end, endOther] = [await beginLife(handler), await beginLife(handler)]
    await end()
    expect(closed).toEqual([])
    await endOther()
    expect(closed).toEqual(['fine'])
    expect(logged.map(({ event, plugin, message }) => [event, plugin, message])).toEqual([
      ['plugin.failed', 'thrown', 'one'],
      ['plugin.failed', 'rejected', 'two'],
    ])
  })

  const fail = (): never => {
    throw new Error('broken')
  }
  it.each<[string, () => Plugin['observer']]>([
    ['start', () => ({ start: fail })],
    ['event', () => ({ start: () => ({ event: fail, end: fail }) })],
    ['end', () => ({ start: () => ({ end: fail }) })],
    [
      'event, as a promise',
      () => ({ start: () => ({ event: async () => fail(), end: async () => fail() }) }),
    ],
    ['end, as a promise', () => ({ start: () => ({ end: async () => fail() }) })],
    ['start, as a promise', () => ({ start: untyped(async () => fail()) })],
  ])('in the %s of an observer changes no run, and is told once a run', async (_, observer) => {
    const heard: string[] = []
    const runs: BegunRun[] = []
    const listening: Plugin = {
      name: 'listening',
      observer: {
        start(run) {
          runs.push(run)
          return { event: ({ type }) => void heard.push(type), end: ({ type }) => void heard.push(type) }
        },
      },
    }
    const { post, logged } = served([{ name: 'broken', observer: observer() ?? {} }, listening], { agents })
    expect(await (await post('/api/agents/echo/run')).json()).toMatchObject({ text: 'onetwo' })
    expect(heard).toEqual(['text', 'text', 'finish'])
    await expect
      .poll(() => logged)
      .toMatchObject([{ event: 'observer.failed', plugin: 'broken', message: 'broken' }])
    expect(await (await post('/api/agents/echo/stream')).text()).toContain('"finish"')
    expect(runs.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['agent echo', 'agent echo'])
    await expect.poll(() => logged.length).toBe(2)
  })
})

describe('a handler without state', () => {
  it('runs and streams', async () => {
    const { post } = served([], { agents })
    expect(await (await post('/api/agents/echo/run')).json()).toMatchObject({ text: 'onetwo' })
    expect(await (await post('/api/agents/echo/stream')).text()).toContain('"type":"finish"')
  })

  it('says what to give for a stored run', async () => {
    const { post, get } = served([], { agents })
    const asked: readonly (readonly [object, Record<string, string>])[] = [
      [{ input: 'x', background: true }, {}],
      [{ input: 'x' }, { prefer: 'respond-async' }],
      [{ input: 'x' }, { 'idempotency-key': 'k' }],
    ]
    for (const [body, headers] of asked) {
      const answer = await (await post('/api/agents/echo/run', body, { headers })).json()
      expect(answer).toMatchObject({
        code: 'runs_not_stored',
        error: expect.stringContaining('`memoryState()`'),
      })
    }
    expect((await get(`/api/runs/${crypto.randomUUID()}`)).status).toBe(404)
  })

  const tickets = keeping({ reads: { count: kept => kept.count('tickets') } })
  const keepingTickets = (): Plugin => ({
    name: 'tickets',
    kept: tickets,
    mount(core) {
      core.calls(tickets)
      return {}
    },
  })
  it.each<[string, () => Plugin]>([
    ['a2a', () => a2a()],
    ['corrections', () => corrections()],
    ['rateLimit', () => rateLimit({ shared: true })],
    ['tickets', keepingTickets],
  ])('refuses what keeps something: %s', (name, make) => {
    const { code, message } = refusalOf([make()])
    expect([code, message]).toEqual(['invalid_options', expect.stringContaining(`\`${name}\` stores data`)])
    expect(message).toContain('`memoryState()`')
    expect(refusalOf([make()], { state: memoryState() }).message).toBe('it was made')
  })
})
