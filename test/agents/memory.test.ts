import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type RunOptions,
  sequence,
  Team,
  textOf,
  Workflow,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

/** An agent that says what it was told before in its session. */
function remembering(name: string): Agent {
  const agent: Agent = new Agent({
    name,
    register: false,
    async run(input, { memory }) {
      const session = memory?.session(agent)
      const before = (await session?.read()) ?? ['nothing']
      await session?.append([textOf(input)])
      return before.join(',')
    },
  })
  return agent
}

const team = (name: string, member: Agent) =>
  new Team({ name, members: [member], strategy: sequence, register: false })

function serve(options: HandlerOptions) {
  const handler = createHandler({
    registry: false,
    logger: false,
    middleware: [
      (request, context, next) => {
        const id = request.headers.get('x-user')
        if (id !== null) context.identity = { id }
        return next()
      },
    ],
    ...options,
  })
  return async (path: string, input: string, body: RunOptions = {}, headers: Record<string, string> = {}) => {
    const answer = await handler(
      new Request(
        `http://127.0.0.1/api/${path}/run`,
        jsonRequest({ input, sessionId: 's', ...body }, headers),
      ),
    )
    return (await answer.json()).text
  }
}

describe('the memory of an agent', () => {
  it('is of the identity, else of the user that the client claims, else of the session', async () => {
    const say = serve({ agents: { a: remembering('a') } })
    expect(await say('agents/a', 'of nobody')).toBe('')
    expect(await say('agents/a', 'of a claimed ada', { userId: 'ada' })).toBe('')
    expect(await say('agents/a', 'of a claimed bob', { userId: 'bob' })).toBe('')
    expect(await say('agents/a', 'of ada', { userId: 'bob' }, { 'x-user': 'ada' })).toBe('')
    expect(await say('agents/a', 'of a spelled ada', {}, { 'x-user': '/ada' })).toBe('')
    expect(await say('agents/a', 'what?', { userId: 'ada' })).toBe('of a claimed ada')
    expect(await say('agents/a', 'what?', {}, { 'x-user': 'ada' })).toBe('of ada')
    expect(await say('agents/a', 'what?')).toBe('of nobody')
  })

  it('is its own, not that of another agent of its name', async () => {
    const [one, two] = [team('one', remembering('helper')), team('two', remembering('helper'))]
    const both = new Workflow({
      name: 'both',
      register: false,
      async *run(input, { call }) {
        yield* call(one, input)
        yield '|'
        yield* call(two, `${textOf(input)} again`)
      },
    })
    const say = serve({
      agents: { helper: remembering('helper') },
      teams: { one, other: team('one', remembering('helper')) },
      workflows: { both },
    })
    expect(await say('agents/helper', 'to the agent')).toBe('')
    expect(await say('teams/one', 'to one')).toBe('')
    expect(await say('teams/other', 'to other')).toBe('')
    expect(await say('workflows/both', 'to both')).toBe('to one|')
    expect(await say('workflows/both', 'what?')).toBe('to one,to both|to both again')
    expect(await say('agents/helper', 'what?')).toBe('to the agent')
  })

  it('is one, however an agent that is served is reached', async () => {
    const inner = remembering('inner')
    const say = serve({ agents: { outer: inner }, teams: { desk: team('desk', inner) } })
    expect(await say('agents/outer', 'one')).toBe('')
    expect(await say('teams/desk', 'two')).toBe('one')
    expect(await say('agents/outer', 'three')).toBe('one,two')
  })

  it('holds no key of a run', async () => {
    const say = serve({ agents: { a: remembering('a') } })
    await say('agents/a', 'denied for key-of-a-client', {}, { 'x-api-key': 'key-of-a-client' })
    await say('agents/a', 'and for key-in-a-body', { apiKey: 'key-in-a-body' })
    expect(await say('agents/a', 'what?')).toBe('denied for [redacted],and for [redacted]')
  })
})
