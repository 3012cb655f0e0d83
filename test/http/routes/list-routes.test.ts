import { describe, expect, it } from 'vitest'
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
      },
    ])
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
    const team = new Team({ name: 't', description: 'd', register: false, members, strategy: sequence })
    expect(await list('teams', { serve: [team] })).toEqual([
      { name: 't', description: 'd', members: ['a', 'b'] },
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
    const workflow = new Workflow({ name: 'w', register: false, steps: named })
    expect(await list('workflows', { serve: [workflow] })).toEqual([
      { name: 'w', description: null, steps: ['s1', 's2'] },
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
