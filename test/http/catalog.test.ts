import { describe, expect, it } from 'vitest'
import { createCatalog, type Sources } from '../../src/http/catalog.ts'
import { createHandler, type HandlerOptions, Registry, type Servable } from '../../src/index.ts'
import { untyped } from '../support.ts'

const servable = (name: string, kind: string = 'agent') =>
  untyped<Servable>({ kind, name, run: async () => ({}) })
const bare = { run: async () => ({}) }

function registryOf(...servables: Servable[]): Registry {
  const registry = new Registry()
  for (const each of servables) registry.register(each)
  return registry
}

const catalogOf = (sources: Partial<Sources>) => createCatalog({ registry: undefined, ...sources })

describe('createCatalog', () => {
  it('resolves explicit entries, under the name of the map', () => {
    const own = servable('inner')
    const catalog = catalogOf({ agents: { outer: own }, teams: { t: bare }, workflows: { w: bare } })
    expect(catalog.resolve('agent', 'outer')).toEqual({ kind: 'agent', name: 'outer', servable: own })
    expect(catalog.resolve('team', 't').servable).toBe(bare)
    expect(catalog.resolve('workflow', 'w').servable).toBe(bare)
    expect(() => catalog.resolve('agent', 'inner')).toThrow()
  })

  it('classifies a mixed array by kind', () => {
    const catalog = catalogOf({ serve: [servable('x', 'team'), servable('x'), servable('y', 'workflow')] })
    expect(catalog.names()).toEqual({ agents: ['x'], teams: ['x'], workflows: ['y'] })
  })

  it('prefers an explicit entry to a registered one of the same kind and name', () => {
    const own = servable('same')
    const registry = registryOf(servable('same'), servable('other'), servable('same', 'team'))
    const catalog = catalogOf({ serve: [own], registry })
    expect(catalog.resolve('agent', 'same').servable).toBe(own)
    expect(catalog.names()).toEqual({ agents: ['same', 'other'], teams: ['same'], workflows: [] })
    expect(catalog.entries('agent')[0]).toEqual({ name: 'same', servable: own })
  })

  it('looks the registry up anew each time', () => {
    const registry = new Registry()
    const catalog = catalogOf({ registry })
    expect(() => catalog.resolve('agent', 'a')).toThrow()
    registry.register(servable('a'))
    expect(catalog.resolve('agent', 'a').name).toBe('a')
    registry.unregister('agent', 'a')
    expect(catalog.names().agents).toEqual([])
  })

  it.each(['agent', 'team', 'workflow'] as const)('tells an unknown %s by a code of its own', kind => {
    expect(() => catalogOf({}).resolve(kind, 'nobody')).toThrow(
      expect.objectContaining({ code: `${kind}_not_found`, message: expect.stringContaining('nobody') }),
    )
  })

  it.each(['__proto__', 'constructor', 'toString', ''])('knows nobody named "%s" by itself', name => {
    const catalog = catalogOf({ agents: { a: bare }, registry: new Registry() })
    expect(() => catalog.resolve('agent', name)).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
  })

  it('serves an agent that is named like a member of every object', () => {
    const agents = JSON.parse('{"__proto__":{},"constructor":{}}')
    for (const name of Object.keys(agents)) agents[name].run = bare.run
    expect(catalogOf({ agents }).names().agents).toEqual(['__proto__', 'constructor'])
  })

  it('cuts a long unknown name in its message', () => {
    expect(() => catalogOf({}).resolve('agent', 'x'.repeat(10_000))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,150}$/) }),
    )
  })

  it.each<[string, object, string]>([
    ['an entry that is nothing', { agents: { a: undefined } }, '`agents.a`'],
    ['an entry without a method', { agents: { a: {} } }, '`agents.a`'],
    ['an entry whose method is none', { teams: { t: { run: 5 } } }, '`teams.t`'],
    ['an entry of another kind', { agents: { a: servable('a', 'team') } }, '`teams`'],
    ['an empty name', { workflows: { '': bare } }, '`workflows.`'],
    ['a name that is too long', { agents: { ['x'.repeat(201)]: bare } }, '`name`'],
    ['an item without a kind', { serve: [servable('a'), bare] }, '`serve[1]`'],
    ['an item without a name', { serve: [{ kind: 'agent', ...bare }] }, '`serve[0]`'],
    ['an item without a method', { serve: [{ kind: 'agent', name: 'a' }] }, '`serve[0]`'],
    ['an item that is nothing', { serve: [null] }, '`serve[0]`'],
    ['two items of one kind and name', { serve: [servable('a'), servable('a')] }, '`serve[1]`'],
    ['an item named like an entry', { agents: { a: bare }, serve: [servable('a')] }, '`serve[0]`'],
  ])('refuses %s at the start and names it', (_, sources, named) => {
    const expected = expect.objectContaining({
      code: 'invalid_options',
      message: expect.stringContaining(named),
    })
    expect(() => catalogOf(sources)).toThrow(expected)
    expect(() => createHandler(untyped<HandlerOptions>(sources))).toThrow(expected)
  })
})
