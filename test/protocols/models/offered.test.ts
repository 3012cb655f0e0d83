import { describe, expect, it } from 'vitest'
import { type Catalog, createCatalog } from '../../../src/http/catalog.ts'
import { createHandler, type HandlerOptions, Registry } from '../../../src/index.ts'
import { createModels, type Models } from '../../../src/protocols/models/offered.ts'
import { modelOf } from '../../../src/protocols/openai/models.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { speaker, untyped } from '../../support.ts'

const bare = { run: async () => ({}) }
const agents = { helper: bare, desk: bare, 'team/flow': bare, 'é 😀': bare, constructor: bare }
const sources = { agents, teams: { desk: bare, flow: bare }, workflows: { flow: bare, 'team/desk': bare } }

/** Models of a catalog whose look-ups are counted. */
function modelsOf(named?: Readonly<Record<string, string>>) {
  const catalog = createCatalog({ ...sources, registry: undefined })
  const count = { entries: 0 }
  const watched: Catalog = {
    ...catalog,
    entries(kind) {
      count.entries++
      return catalog.entries(kind)
    },
  }
  return { models: createModels(watched, named, modelOf), count }
}

const refused = expect.objectContaining({ code: 'agent_not_found' })
const targetOf = (models: Models, id: string) => {
  const { kind, name } = models.resolve(id)
  return `${kind} ${name}`
}

describe('models', () => {
  it('are all that is served, and each is found by the name that the list has for it', () => {
    const { models } = modelsOf()
    const ids = models.list().map(({ id }) => id)
    expect(ids).toEqual([
      ...['helper', 'desk', 'team/flow', 'é 😀', 'constructor'],
      ...['team/desk', 'flow', 'workflow/flow', 'workflow/team/desk'],
    ])
    expect(ids.map(id => targetOf(models, id))).toEqual([
      ...['agent helper', 'agent desk', 'agent team/flow', 'agent é 😀', 'agent constructor'],
      ...['team desk', 'team flow', 'workflow flow', 'workflow team/desk'],
    ])
  })

  it('are found by their kind as well', () => {
    const { models } = modelsOf()
    expect(['agent/desk', 'team/desk', 'workflow/flow'].map(id => targetOf(models, id))).toEqual([
      ...['agent desk', 'team desk', 'workflow flow'],
    ])
  })

  it.each([
    ...[
      '',
      'none',
      '__proto__',
      'toString',
      'agent/',
      'team/none',
      '/',
      'HELPER',
      'helper ',
      'xteam/desk',
      'xteam/',
    ],
  ])('are not `%s`', id => expect(() => modelsOf().models.resolve(id)).toThrow(refused))

  it('are only those that have a name, where names are given', () => {
    const { models } = modelsOf({
      'gpt-5': 'helper',
      both: 'workflow/flow',
      gone: 'nobody',
      é: 'team/desk',
    })
    expect(models.list()).toEqual([
      { id: 'gpt-5', object: 'model', created: expect.any(Number), owned_by: 'agent' },
      { id: 'both', object: 'model', created: expect.any(Number), owned_by: 'workflow' },
      { id: 'é', object: 'model', created: expect.any(Number), owned_by: 'team' },
    ])
    for (const id of ['helper', 'gone', '__proto__', 'constructor', 'hasOwnProperty'])
      expect(() => models.resolve(id)).toThrow(refused)
  })

  it('may have names that objects have', () => {
    const named = JSON.parse('{"__proto__":"helper","constructor":"desk"}')
    const { models } = modelsOf(named)
    expect(['__proto__', 'constructor'].map(id => targetOf(models, id))).toEqual([
      'agent helper',
      'agent desk',
    ])
  })

  it('keep a long name out of the error', () => {
    expect(() => modelsOf().models.resolve('x'.repeat(1_000_000))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{100,200}$/) }),
    )
  })

  it('are looked up once for a request, without the whole list', () => {
    const { models, count } = modelsOf()
    models.resolve('helper')
    expect(() => models.resolve('none')).toThrow(refused)
    expect(count.entries).toBe(0)
  })

  it('are looked up at each request', async () => {
    const registry = new Registry()
    const handler = createHandler({ registry, plugins: [openai()] })
    const get = async (path: string) => handler(new Request(`http://h/v1/models${path}`))
    expect(await (await get('')).json()).toEqual({ object: 'list', data: [] })
    registry.register(speaker('late', 'hi'))
    const { data } = await (await get('')).json()
    expect(data).toMatchObject([{ id: 'late', owned_by: 'agent' }])
    expect(await (await get('/late')).json()).toEqual(data[0])
    expect((await get('/later')).status).toBe(404)
  })

  it('come percent-encoded in a path', async () => {
    const handler = createHandler(
      untyped<HandlerOptions>({ registry: false, ...sources, plugins: [openai()] }),
    )
    for (const id of ['team/desk', 'é 😀', 'workflow/team/desk']) {
      const response = await handler(new Request(`http://h/v1/models/${encodeURIComponent(id)}`))
      expect(await response.json()).toMatchObject({ id })
    }
  })
})

describe('openai', () => {
  it.each<[string, unknown]>([
    ['path', { path: '/v1/../x' }],
    ['models', { models: ['helper'] }],
    ['models', { models: { a: 1 } }],
    ['sessionHeader', { sessionHeader: 'a b' }],
    ['toolCalls', { toolCalls: 'function_call' }],
    ['store', { store: 'yes' }],
    ['prefix', { prefix: '/v1' }],
  ])('refuses an option that cannot work: %s', (member, options) => {
    const make = () => openai(untyped(options))
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(make).toThrow(member)
  })
})
