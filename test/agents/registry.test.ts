import { afterEach, beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest'
import {
  Agent,
  createHandler,
  defaultRegistry,
  type HandlerOptions,
  type Kind,
  Registry,
  type Servable,
  sequence,
  steps,
  Team,
  Workflow,
} from '../../src/index.ts'
import { speaker, turn, untyped } from '../support.ts'

const servable = (kind: string, name: string, more: object = { run: async () => ({}) }): Servable =>
  untyped({ kind, name, ...more })

const list = async (handler: (request: Request) => Promise<Response>) =>
  (await handler(new Request('http://h/api/registry'))).json()

const runs = async (handler: (request: Request) => Promise<Response>, path: string) => {
  const body = JSON.stringify({ input: 'hi' })
  const headers = { 'content-type': 'application/json' }
  return handler(new Request(`http://h/api/${path}/run`, { method: 'POST', body, headers }))
}

let warned: MockInstance<typeof console.warn>
beforeEach(() => {
  warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
})

afterEach(() => {
  warned.mockRestore()
  for (const kind of ['agent', 'team', 'workflow'] as const) {
    for (const { name } of defaultRegistry().all(kind)) defaultRegistry().unregister(kind, name)
  }
})

describe('the registry rules of the specification', () => {
  const member = speaker('member', 'x')
  const makers: [string, (register?: boolean) => Servable][] = [
    [
      'agent',
      register => new Agent({ name: 'one', run: () => 'agent', ...(register === false && { register }) }),
    ],
    [
      'team',
      register =>
        new Team({
          name: 'one',
          members: [member],
          strategy: sequence,
          ...(register === false && { register }),
        }),
    ],
    [
      'workflow',
      register =>
        new Workflow({
          name: 'one',
          steps: steps().step('s', () => 'workflow'),
          ...(register === false && { register }),
        }),
    ],
  ]

  it.each(makers)('1: an %s registers itself when it is made, unless told not to', (kind, make) => {
    make(false)
    expect(defaultRegistry().list()).toEqual({ agents: [], teams: [], workflows: [] })
    const made = make()
    expect(defaultRegistry().get(made.kind, 'one')).toBe(made)
    expect(defaultRegistry().list()).toMatchObject({ [`${kind}s`]: ['one'] })
  })

  it('2: names are listed in three arrays', () => {
    for (const [, make] of makers) make()
    expect(defaultRegistry().list()).toEqual({ agents: ['one'], teams: ['one'], workflows: ['one'] })
  })

  it.each(makers)('3: the kind of an %s is its own', (kind, make) => {
    expect(make(false).kind).toBe(kind)
  })

  it('4: a name is resolved on every request', async () => {
    const handler = createHandler()
    expect((await runs(handler, 'agents/later')).status).toBe(404)
    new Agent({ name: 'later', run: () => 'first' })
    expect(await (await runs(handler, 'agents/later')).json()).toMatchObject({ text: 'first' })
    new Agent({ name: 'later', run: () => 'second' })
    expect(await (await runs(handler, 'agents/later')).json()).toMatchObject({ text: 'second' })
    defaultRegistry().unregister('agent', 'later')
    expect((await runs(handler, 'agents/later')).status).toBe(404)
  })

  it('5: the registry is the default one, a custom one, or none', async () => {
    const registry = new Registry()
    new Agent({ name: 'global', run: () => 'x' })
    new Agent({ name: 'custom', run: () => 'x', register: registry })
    expect(await list(createHandler())).toMatchObject({ agents: ['global'] })
    expect(await list(createHandler({ registry }))).toMatchObject({ agents: ['custom'] })
    const closed = createHandler({ registry: false, agents: { own: speaker('own', 'x') } })
    expect((await runs(closed, 'agents/global')).status).toBe(404)
    expect((await runs(closed, 'agents/own')).status).toBe(200)
  })

  it('6: maps of names and a mixed array are served alike', async () => {
    const [agent, team, workflow] = makers.map(([, make]) => make(false))
    const mapped = createHandler(
      untyped<HandlerOptions>({
        registry: new Registry(),
        agents: { a: agent },
        teams: { t: team },
        workflows: { w: workflow },
      }),
    )
    expect(await list(mapped)).toEqual({ agents: ['a'], teams: ['t'], workflows: ['w'] })
    const mixed = createHandler(
      untyped<HandlerOptions>({ registry: new Registry(), serve: [workflow, agent, team] }),
    )
    expect(await list(mixed)).toEqual({ agents: ['one'], teams: ['one'], workflows: ['one'] })
    for (const kind of ['agents', 'teams', 'workflows']) {
      expect((await runs(mixed, `${kind}/one`)).status).toBe(200)
    }
  })

  it('7: any object that fits the contract is served', async () => {
    const handler = createHandler({
      registry: false,
      agents: { ran: { run: async () => untyped({ text: 'ran' }) } },
      serve: [
        servable('agent', 'streamed', {
          stream: async function* () {
            yield { type: 'text', text: 'streamed' }
          },
        }),
      ],
    })
    expect(await (await runs(handler, 'agents/ran')).json()).toMatchObject({ text: 'ran' })
    expect(await (await runs(handler, 'agents/streamed')).json()).toMatchObject({ text: 'streamed' })
  })
})

describe('Registry', () => {
  it('keeps one name of each kind apart, in the order in which they came', () => {
    const registry = new Registry()
    for (const kind of ['workflow', 'agent', 'team']) registry.register(servable(kind, 'same'))
    registry.register(servable('agent', 'another'))
    expect(registry.list()).toEqual({ agents: ['same', 'another'], teams: ['same'], workflows: ['same'] })
    expect(registry.get('team', 'same')?.kind).toBe('team')
    expect(registry.all('agent').map(({ name }) => name)).toEqual(['same', 'another'])
  })

  it('replaces what has the same kind and name', async () => {
    const registry = new Registry()
    const second = servable('agent', 'a')
    registry.register(servable('agent', 'a'))
    await turn()
    registry.register(second)
    expect(registry.all('agent')).toEqual([second])
    expect(registry.get('agent', 'a')).toBe(second)
  })

  it('forgets a name', () => {
    const registry = new Registry()
    registry.register(servable('agent', 'a'))
    expect(registry.unregister('agent', 'a')).toBe(true)
    expect(registry.unregister('agent', 'a')).toBe(false)
    expect(registry.get('agent', 'a')).toBeUndefined()
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'has nothing of the name %s by itself',
    name => {
      const registry = new Registry()
      expect(registry.get('agent', name)).toBeUndefined()
      registry.register(servable('agent', name))
      expect(registry.get('agent', name)?.name).toBe(name)
    },
  )

  it('gives a copy of its names', () => {
    const registry = new Registry()
    registry.list().agents.push('made up')
    expect(registry.list().agents).toEqual([])
  })

  it.each([
    ['no kind', servable(untyped(undefined), 'a'), '`kind`'],
    ['an unknown kind', servable('robot', 'a'), '`kind`'],
    ['no name', servable('agent', untyped(undefined)), '`name`'],
    ['an empty name', servable('agent', ''), '`name`'],
    ['a name that is too long', servable('agent', 'a'.repeat(201)), '`name`'],
    ['no method', servable('agent', 'a', {}), '`run`'],
    ['a method that is none', servable('agent', 'a', { run: 'now' }), '`run`'],
    ['nothing', untyped<Servable>(undefined), '`kind`'],
    ['null', untyped<Servable>(null), '`kind`'],
  ])('refuses a servable with %s', (_, value, named) => {
    expect(() => new Registry().register(value)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(named) }),
    )
  })

  it('takes a name of 200 characters', () => {
    const registry = new Registry()
    registry.register(servable('agent', 'a'.repeat(200)))
    expect(registry.list().agents).toHaveLength(1)
  })

  it('refuses to look up a kind that is none', () => {
    expect(() => new Registry().get(untyped<Kind>('robot'), 'a')).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })
})

describe('defaultRegistry', () => {
  it('is one for all copies of the library in a process', () => {
    expect(defaultRegistry()).toBe(defaultRegistry())
    expect(Reflect.get(globalThis, Symbol.for('servable.registry'))).toBe(defaultRegistry())
  })
})

describe('a second of one kind and name', () => {
  const make = (registry: Registry, name = 'twice') => new Agent({ name, register: registry, run: () => 'x' })

  it('takes the place of the first when it comes later, as in a hot reload, and a warning says so once', async () => {
    const registry = new Registry()
    make(registry)
    expect(warned).not.toHaveBeenCalled()
    await turn()
    make(registry)
    await turn()
    const last = make(registry)
    expect(registry.get('agent', 'twice')).toBe(last)
    expect(warned.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        event: 'registry.replaced',
        kind: 'agent',
        name: 'twice',
        message: expect.stringContaining('register: false'),
      },
    ])
  })

  it('is refused in the same turn, as where modules are loaded together', () => {
    const registry = new Registry()
    const first = make(registry)
    const refused = expect.objectContaining({ code: 'invalid_options' })
    expect(() => make(registry)).toThrow(refused)
    expect(() => make(registry)).toThrow('`twice`')
    expect(registry.get('agent', 'twice')).toBe(first)
    make(registry, 'another')
  })

  it('takes the place of the first in production, also in the same turn', () => {
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    const registry = new Registry()
    make(registry)
    const last = make(registry)
    expect(registry.get('agent', 'twice')).toBe(last)
    expect(warned).toHaveBeenCalledTimes(1)
  })

  it('is no second where it is the same, of another kind, or the first has left', () => {
    const registry = new Registry()
    const first = make(registry)
    registry.register(first)
    new Workflow({ name: 'twice', register: registry, steps: steps().step('s', () => 'x') })
    registry.unregister('agent', 'twice')
    make(registry)
    expect(warned).not.toHaveBeenCalled()
  })

  it('is refused where both are given to one handler', () => {
    const one = speaker('one', 'x')
    const other = new Agent({ name: 'one', register: false, run: () => 'y' })
    const registry = new Registry()
    for (const options of [{ serve: [one, other] }, { agents: { one }, serve: [other] }]) {
      expect(() => createHandler({ registry, ...options })).toThrow('there are two agents named `one`')
    }
  })
})
