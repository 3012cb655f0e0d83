/** Sessions, as the client asks for them. */
import { describe, expect, it } from 'vitest'
import { createClient, ServableClientError } from '../../src/client/index.ts'
import { createHandler, memoryState } from '../../src/index.ts'
import { sessionsOptions } from '../contracts/sessions/service.ts'
import { failure } from './kit.ts'

const asked: string[] = []

/** A client of a service that it is told of its requests. */
function clientOf(user?: string) {
  const handler = createHandler(sessionsOptions(memoryState()))
  const fetch = (request: Request) => {
    asked.push(`${request.method} ${request.url.slice('http://127.0.0.1/api'.length)}`)
    return handler(request)
  }
  const headers = { ...(user !== undefined && { 'x-test-user': user }) }
  return createClient({ baseUrl: 'http://127.0.0.1/api', fetch, headers })
}

describe('`client.sessions`', () => {
  it('begins a session, reads its turns, renames it, copies it and lists all', async () => {
    const client = clientOf('ada')
    const { sessions } = client
    const { id } = await sessions.create({ name: 'talks', title: 'Mine' })
    const { text } = await client.agent('talks').run('hello', { sessionId: id })
    const { turns, nextCursor } = await sessions.messages('talks', id, { limit: 1 })
    expect([turns.length, turns[0]?.text, nextCursor]).toEqual([1, text, null])
    expect(await sessions.rename('talks', id, 'Yours')).toMatchObject({ id, title: 'Yours' })
    const fork = await sessions.fork({ kind: 'agent', name: 'talks' }, id, { runId: turns[0]?.runId ?? '' })
    expect(await sessions.get('talks', fork.id)).toEqual(fork)
    const { sessions: all } = await sessions.list({ kind: 'agent', limit: 10 })
    expect(all.map(each => each.id)).toEqual([fork.id, id])
  })

  it('asks for sessions of teams and of ids with any characters', async () => {
    const { sessions, team } = clientOf('ada')
    const of = { kind: 'team', name: 'counting' } as const
    await team('counting').run('x', { sessionId: 'a/b %' })
    expect(await sessions.get(of, 'a/b %')).toMatchObject({ kind: 'team', id: 'a/b %' })
    expect((await failure(sessions.get(of, '..'))).code).toBe('invalid_options')
  })

  it('replaces a message, and says where it is gone', async () => {
    const { sessions, agent } = clientOf('ada')
    const { id: sessionId } = await sessions.create({ name: 'talks' })
    const talks = agent('talks')
    await talks.run('one', { sessionId, messageId: 'm1' })
    const edit = { sessionId, messageId: 'm2', replaces: 'm1' }
    await talks.run('two', edit)
    const { turns } = await sessions.messages('talks', sessionId)
    expect(turns.map(({ input, messageId }) => [input, messageId])).toEqual([['two', 'm2']])
    const branches = await sessions.branches('talks', sessionId)
    expect(branches.map(({ isHead }) => isHead)).toEqual([true, undefined])
    const [, { runId = '' } = {}] = branches
    const [head] = turns
    await sessions.setHead('talks', sessionId, runId, { ifHead: head?.runId ?? '' })
    const page = await sessions.messages('talks', sessionId)
    expect(page.turns.map(({ input }) => input)).toEqual(['one'])
    await sessions.deleteBranch('talks', sessionId, head?.runId ?? '')
    expect(await sessions.branches('talks', sessionId)).toHaveLength(1)
    for (const follow of [true, false] as const) {
      expect(await failure(talks.run('three', { ...edit, replaces: 'gone', follow }))).toMatchObject({
        ...{ code: 'session_changed', status: 409 },
      })
    }
  })

  it('says what it may not see', async () => {
    const { sessions } = clientOf()
    expect((await failure(sessions.get('talks', 'x'))).code).toBe('session_not_found')
    expect((await failure(sessions.list())).code).toBe('not_found')
    expect(await failure(sessions.create({ name: 'nobody' }))).toBeInstanceOf(ServableClientError)
  })

  it('asks to delete a session, and to cancel its run', async () => {
    const fetch = async (request: Request) => {
      asked.push(`${request.method} ${request.url.slice('http://127.0.0.1/api'.length)}`)
      return new Response(null, { status: 204 })
    }
    const { sessions } = createClient({ baseUrl: 'http://127.0.0.1/api', fetch })
    await sessions.delete('talks', 'a b', { running: 'cancel' })
    expect(asked.at(-1)).toBe('DELETE /agents/talks/sessions/a%20b?running=cancel')
  })
})
