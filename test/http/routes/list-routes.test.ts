import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { createHandler as createCore } from '../../../src/core-entry.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  Registry,
  sequence,
  steps,
  Team,
  Workflow,
} from '../../../src/index.ts'
import { speaker, untyped } from '../../support.ts'

async function list(path: string, options: HandlerOptions = {}) {
  const handler = createHandler({ registry: new Registry(), ...options })
  const response = await handler(new Request(`http://h/api/${path}`))
  expect(response.headers.get('content-type')).toContain('application/json')
  return response.json()
}

const bare = { run: async () => untyped<never>({}) }

describe('GET /agents', () => {
  it('tells what an agent is and can do, and nothing more', async () => {
    const agent = new Agent({
      name: 'own',
      register: false,
      description: 'd',
      model: { provider: 'provider-a.chat', id: 'm' },
      output: { type: 'object' },
      capabilities: ['vision'],
      tools: [{ name: 't', description: 'secret', execute: () => {} }],
      run: () => {},
    })
    expect(
      await list('agents', { agents: { served: Object.assign(agent, { instructions: 'secret' }) } }),
    ).toEqual([
      {
        name: 'served',
        description: 'd',
        model: 'm',
        provider: 'provider-a.chat',
        tools: ['t'],
        hasStructuredOutput: true,
        capabilities: ['vision'],
        outputSchema: { type: 'object' },
      },
    ])
  })

  it('shows schemas, examples, and who takes corrections', async () => {
    const agent = new Agent({
      name: 'a',
      register: false,
      input: v.object({ city: v.string() }),
      output: { type: 'object', properties: {} },
      examples: ['Is it sunny in Oslo?'],
      corrections: true,
      run: () => {},
    })
    const told = {
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      outputSchema: { type: 'object', properties: {} },
      examples: ['Is it sunny in Oslo?'],
      corrections: true,
    }
    for (const _ of ['made', 'kept']) {
      expect(await list('agents', { serve: [agent] })).toMatchObject([told])
    }
    const core = createCore({ registry: new Registry(), serve: [agent] })
    const [shown] = await (await core(new Request('http://h/api/agents'))).json()
    expect(shown).toMatchObject({ outputSchema: told.outputSchema, examples: told.examples })
    for (const none of ['inputSchema', 'corrections']) expect(shown).not.toHaveProperty(none)
  })

  it('shows nothing of what is no schema and no example', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const throwing = {
      get '~standard'(): never {
        throw new Error('it has none')
      },
    }
    for (const output of [
      circle,
      throwing,
      () => {},
      'text',
      { description: 'x'.repeat(70_000) },
      new Map(),
    ]) {
      const examples = untyped<string[]>(['', 5, null, 'x'.repeat(2001)])
      const [shown] = await list('agents', { agents: { a: { ...bare, input: output, output, examples } } })
      expect(shown).toMatchObject({ hasStructuredOutput: true })
      for (const none of ['outputSchema', 'inputSchema', 'examples', 'corrections']) {
        expect(shown).not.toHaveProperty(none)
      }
    }
    const examples = Array.from({ length: 30 }, (_, at) => `${at}`)
    expect(await list('agents', { agents: { a: { ...bare, examples } } })).toMatchObject([
      { examples: examples.slice(0, 20) },
    ])
  })

  it.each([
    [[]],
    [['']],
    [['x'.repeat(2001)]],
    [Array.from({ length: 21 }, () => 'x')],
    ['text'],
    [[5]],
    [null],
  ])('refuses an agent with the examples %j', examples => {
    const make = () => new Agent({ name: 'a', register: false, run: () => {}, examples: untyped(examples) })
    expect(make).toThrow('`examples` must be 1 to 20 texts of 1 to 2000 characters')
  })

  it('tells of an agent that says nothing of itself', async () => {
    expect(await list('agents', { agents: { a: bare } })).toEqual([
      {
        name: 'a',
        description: null,
        model: null,
        provider: null,
        tools: [],
        hasStructuredOutput: false,
        capabilities: [],
      },
    ])
  })

  it('lists tools that have a name only', async () => {
    const tools = untyped<never>([{ name: 't' }, { name: 5 }, null, 'text'])
    expect(await list('agents', { agents: { a: { ...bare, tools } } })).toMatchObject([{ tools: ['t'] }])
    expect(await list('agents', { agents: { a: { ...bare, tools: untyped({ t: {} }) } } })).toMatchObject([
      { tools: [] },
    ])
  })
})

describe('GET /teams', () => {
  it('tells the members', async () => {
    const members = [speaker('a'), speaker('b')]
    const hints = { examples: ['x'], input: { type: 'object' } }
    const team = new Team({
      name: 't',
      description: 'd',
      register: false,
      members,
      strategy: sequence,
      ...hints,
    })
    const told = { examples: ['x'], inputSchema: { type: 'object' } }
    expect(await list('teams', { serve: [team] })).toEqual([
      { name: 't', description: 'd', members: ['a', 'b'], ...told },
    ])
    expect(await list('teams', { teams: { t: bare } })).toEqual([
      { name: 't', description: null, members: [] },
    ])
  })
})

describe('GET /workflows', () => {
  it('tells the steps', async () => {
    const named = steps()
      .step('s1', () => 1)
      .step('s2', () => 2)
    const workflow = new Workflow({ name: 'w', register: false, steps: named, examples: ['x'], input: {} })
    expect(await list('workflows', { serve: [workflow] })).toEqual([
      { name: 'w', description: null, steps: ['s1', 's2'], examples: ['x'], inputSchema: {} },
    ])
    expect(await list('workflows', { workflows: { w: bare } })).toMatchObject([{ steps: [] }])
  })
})

describe('GET /registry', () => {
  it('tells all names', async () => {
    const options = { agents: { a: bare }, teams: { t: bare }, workflows: { w: bare } }
    expect(await list('registry', options)).toEqual({ agents: ['a'], teams: ['t'], workflows: ['w'] })
    expect(await list('registry')).toEqual({ agents: [], teams: [], workflows: [] })
  })
})
