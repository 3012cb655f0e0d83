import { describe, expect, it } from 'vitest'
import { specialNames } from '../fixture/agents.ts'
import { ask, expectProblem, run, type Server, stream } from './client.ts'

interface Named {
  readonly name: string
}

async function list<T = Named>(server: Server, path: string): Promise<T[]> {
  const answer = await ask(server, path)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text)
}

const find = (items: readonly Named[], name: string) => items.filter(item => item.name === name)

export function listCases(server: Server): void {
  describe('GET /agents', () => agentListCases(server))
  describe('GET /teams, /workflows and /registry', () => otherListCases(server))
  describe('`registry`', () => registryCases(server))
  describe('names in paths', () => nameCases(server))
}

function agentListCases(server: Server): void {
  it('answers as `application/json`, as runs do', async () => {
    const paths = ['/api/agents', '/api/teams', '/api/workflows', '/api/registry']
    const answers = await Promise.all(paths.map(path => ask(server, path)))
    const types = answers.map(({ headers }) => headers.get('content-type'))
    expect(types).toEqual(paths.map(() => 'application/json'))
  })

  it('tells what each agent is', async () => {
    const agents = await list(server, '/api/agents')
    expect(find(agents, 'echo')).toEqual([
      {
        name: 'echo',
        description: 'Says it again',
        model: 'echo-1',
        provider: 'provider-a.chat',
        tools: [],
        hasStructuredOutput: false,
        capabilities: [],
      },
    ])
  })

  it('tells tools, structured output and capabilities', async () => {
    const agents = await list(server, '/api/agents')
    expect(find(agents, 'tooled')).toMatchObject([{ tools: ['add'], description: null, model: null }])
    expect(find(agents, 'detailed')).toMatchObject([{ hasStructuredOutput: true, capabilities: ['vision'] }])
  })

  it('shows bare objects under the names of the map', async () => {
    const agents = await list(server, '/api/agents')
    expect(find(agents, 'only-run')).toHaveLength(1)
    expect(find(agents, 'hasOwnProperty')).toHaveLength(1)
  })

  it('shows registered agents after the explicit ones', async () => {
    const names = (await list(server, '/api/agents')).map(({ name }) => name)
    expect(names.indexOf('registered')).toBeGreaterThan(names.indexOf('only-run'))
  })
}

function otherListCases(server: Server): void {
  it('lists teams with their members', async () => {
    const teams = await list(server, '/api/teams')
    expect(find(teams, 'line')).toEqual([
      { name: 'line', description: 'In turn', members: ['echo', 'shout'] },
    ])
  })

  it('lists workflows with their steps', async () => {
    const workflows = await list(server, '/api/workflows')
    expect(find(workflows, 'count')).toEqual([
      { name: 'count', description: 'Counts words', steps: ['split', 'count'] },
    ])
    expect(find(workflows, '__proto__')).toEqual([{ name: '__proto__', description: null, steps: [] }])
  })

  it('lists all names by kind', async () => {
    const names = JSON.parse((await ask(server, '/api/registry')).text)
    expect(Object.keys(names)).toEqual(['agents', 'teams', 'workflows'])
    expect(names.agents).toEqual(expect.arrayContaining(['echo', 'registered', 'ü']))
    expect(names.teams).toEqual(['line', 'choir', 'desk', 'doomed'])
    expect(names.workflows).toEqual(['count', 'broken', '__proto__'])
  })
}

function registryCases(server: Server): void {
  it('serves what is registered', async () => {
    expect((await run(server, '/api/agents/registered/run')).text).toBe('from the registry')
  })

  it('prefers the explicit agent to the registered one of the same name', async () => {
    expect((await run(server, '/api/agents/echo/run', { input: 'me' })).text).toBe('me')
  })

  it('serves an agent made during a request at once, on every mount', async () => {
    const name = `made-${crypto.randomUUID()}`
    expect((await ask(server, `/api/agents/${name}/run`, { method: 'POST' })).status).toBe(404)
    await run(server, '/api/agents/maker/run', { input: name })
    expect((await run(server, `/api/agents/${name}/run`)).text).toBe(`I am ${name}`)
    expect((await run(server, `/dev/agents/${name}/run`)).text).toBe(`I am ${name}`)
    expect(find(await list(server, '/api/agents'), name)).toHaveLength(1)
  })

  it('can be one of its own', async () => {
    expect((await run(server, '/own/agents/mine/run')).text).toBe('my own')
    expect(JSON.parse((await ask(server, '/own/registry')).text)).toEqual({
      agents: ['mine'],
      teams: [],
      workflows: [],
    })
  })

  it('can be off: the lists are gone, and what is explicit is served', async () => {
    for (const path of ['agents', 'teams', 'workflows', 'registry']) {
      await expectProblem(server, await ask(server, `/closed/${path}`), 404, 'not_found')
    }
    expect((await run(server, '/closed/agents/shout/run')).text).toBe('ONE TWO')
    const hidden = await ask(server, '/closed/agents/registered/run', { method: 'POST' })
    await expectProblem(server, hidden, 404, 'agent_not_found')
  })

  it('stands beside a mixed list, classified by kind', async () => {
    expect((await run(server, '/closed/teams/mixed-team/run')).text).toBe('ONE TWO')
    expect((await run(server, '/closed/workflows/mixed-workflow/run')).text).toBe('mixed')
  })
}

function nameCases(server: Server): void {
  it.each(specialNames)('decodes %j', async name => {
    const path = `/api/agents/${encodeURIComponent(name)}`
    expect((await run(server, `${path}/run`)).text).toBe(`I am ${name}`)
    const { events } = await stream(server, `${path}/stream`)
    expect(events[0]).toEqual({ type: 'text', text: `I am ${name}` })
  })

  it('serves a workflow named `__proto__`', async () => {
    expect((await run(server, '/api/workflows/__proto__/run')).text).toBe('no prototype')
  })

  it('does not take an encoded slash for a path', async () => {
    const answer = await ask(server, '/api/agents/a/b/run', { method: 'POST' })
    await expectProblem(server, answer, 404, 'not_found')
  })
}
