import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { accept, as, ask, ended, type Fields, list, own, post, type Server } from '../runs/client.ts'
import { codeIn, fork, listed, look, make, pathOf, say, turnsOf } from './client.ts'

const remove = (server: Server, path: string, headers: Fields = {}) =>
  ask(server, path, { method: 'DELETE', headers })

const openGate = (server: Server, gate: string) => ask(server, `/probe?gate=${gate}`)

/** Starts a stored run. */
const store = (server: Server, input: string, sessionId: string, headers: Fields) =>
  accept(server, 'agents/talks', { input, sessionId }, headers)

/** Sessions that their owner deletes. */
export function forgettingCases(server: Server): void {
  describe('a session that is deleted', () => {
    it('is gone with its runs, and leaves others alone', async () => {
      const ann = as(own('ann'))
      const [id, other] = [own('session'), own('session')]
      for (const each of [id, other]) {
        await say(server, 'one', each, ann)
        await ended(server, (await store(server, 'two', each, ann)).id, ann)
      }
      for (const headers of [as(own('bob')), {}]) {
        const { status, text } = await remove(server, pathOf(id), headers)
        expect([status, codeIn(text)]).toEqual([404, 'session_not_found'])
      }
      expect(await remove(server, pathOf(id), ann)).toMatchObject({ status: 204, text: '' })
      expect(await look(server, id, ann)).toBe('session_not_found')
      expect((await listed(server, ann)).sessions.map(each => each.id)).toEqual([other])
      expect((await list(server, '', ann)).runs.map(({ sessionId }) => sessionId)).toEqual([other])
      expect((await remove(server, pathOf(id), ann)).status).toBe(404)
      // The id is as good as any other.
      await say(server, 'again', id, ann)
      expect((await turnsOf(server, id, ann)).map(({ text }) => text)).toEqual(['you said again (0)'])
    })

    it('is one whose id was given out, too', async () => {
      const { id } = await make(server)
      await say(server, 'one', id)
      const madeUp = own('session')
      await say(server, 'one', madeUp)
      expect((await remove(server, pathOf(madeUp))).status).toBe(404)
      expect((await remove(server, pathOf(id))).status).toBe(204)
      expect(await look(server, id)).toBe('session_not_found')
    })

    it('leaves what was copied from it', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await say(server, 'one', id, ann)
      const copy = await fork(server, id, ann)
      expect((await remove(server, pathOf(id), ann)).status).toBe(204)
      expect((await turnsOf(server, copy.id, ann)).map(({ input }) => input)).toEqual(['one'])
    })

    it('has no run at work, or one that is to be cancelled', async () => {
      const ann = as(own('ann'))
      const [id, gate] = [own('session'), own('gate')]
      const run = await store(server, `waits ${gate}`, id, ann)
      const plain = say(server, 'next', id, ann)
      await eventually(async () => expect(await turnsOf(server, id, ann)).toHaveLength(1))
      for (const path of [pathOf(id), '/api/users/me']) {
        const { status, text } = await remove(server, path, ann)
        expect([status, codeIn(text)]).toEqual([409, 'session_busy'])
      }
      expect((await remove(server, `${pathOf(id)}?running=cancel`, ann)).status).toBe(204)
      expect((await ask(server, `/api/runs/${run.id}`, { headers: ann })).status).toBe(404)
      expect((await plain).status).toBe(200)
      await openGate(server, gate)
    })
  })

  describe('all of a user', () => {
    it('is deleted: sessions, runs, members’ memory', async () => {
      const [ann, bob] = [as(own('ann')), as(own('bob'))]
      for (const user of [ann, bob]) {
        const ids = Array.from({ length: 3 }, () => own('session'))
        for (const id of ids) await say(server, 'x', id, user)
        await say(server, 'x', ids[0] ?? '', user, {}, 'teams/counting')
        await ended(server, (await store(server, 'x', ids[0] ?? '', user)).id, user)
        await accept(server, 'agents/talks', { input: 'alone' }, user)
      }
      await eventually(async () => expect((await listed(server, ann)).sessions).toHaveLength(4))
      expect((await remove(server, '/api/users/me?running=cancel', ann)).status).toBe(204)
      expect((await listed(server, ann)).sessions).toEqual([])
      expect((await list(server, '', ann)).runs).toEqual([])
      expect((await list(server, '', bob)).runs).toHaveLength(2)
      await eventually(async () => expect((await listed(server, bob)).sessions).toHaveLength(4))
      expect((await remove(server, '/api/users/me', ann)).status).toBe(204)
    })

    it('needs an identity', async () => {
      const { status, text } = await remove(server, '/api/users/me')
      expect([status, codeIn(text)]).toEqual([404, 'not_found'])
    })
  })
}

/** What callers say of runs. */
export function feedbackCases(server: Server): void {
  const path = (runId: string) => `/api/runs/${runId}/feedback`
  const idOf = ({ headers }: { headers: Headers }) => headers.get('x-run-id') ?? ''

  describe('feedback', () => {
    it('is kept with the turn of a plain run, the last one alone', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const runId = idOf(await say(server, 'one', id, ann))
      const where = { sessionId: id, name: 'talks' }
      const query = `?sessionId=${id}&name=talks`
      const none = await ask(server, `${path(runId)}${query}`, { headers: ann })
      expect([none.status, codeIn(none.text)]).toEqual([404, 'not_found'])
      await post(server, path(runId), { ...where, score: -1, text: 'bad' }, ann)
      const said = await post(server, path(runId), { ...where, score: 0.5, correction: 'Bergen' }, ann)
      const told = { runId, score: 0.5, correction: 'Bergen', updatedAt: expect.any(String) }
      expect([said.status, JSON.parse(said.text)]).toEqual([200, told])
      expect(JSON.parse((await ask(server, `${path(runId)}${query}`, { headers: ann })).text)).toEqual(told)
      for (const headers of [as(own('bob')), {}]) {
        const { status, text } = await post(server, path(runId), { ...where, score: 1 }, headers)
        expect([status, codeIn(text)]).toEqual([404, 'run_not_found'])
      }
      // It leaves with the session.
      await remove(server, pathOf(id), ann)
      await say(server, 'one', id, ann)
      expect((await ask(server, `${path(runId)}${query}`, { headers: ann })).status).toBe(404)
    })

    it('is kept with a stored run, in a session or not', async () => {
      const ann = as(own('ann'))
      for (const more of [{}, { sessionId: own('session') }]) {
        const { id } = await accept(server, 'agents/talks', { input: 'x', ...more }, ann)
        await ended(server, id, ann)
        expect((await post(server, path(id), { text: 'fine' }, as(own('bob')))).status).toBe(404)
        expect((await post(server, path(id), { text: 'fine' }, ann)).status).toBe(200)
        const { text } = await ask(server, path(id), { headers: ann })
        expect(JSON.parse(text)).toMatchObject({ runId: id, text: 'fine' })
      }
    })

    it('is in the list of runs, and with the turns of a session', async () => {
      const ann = as(own('ann'))
      const session = own('session')
      const ids: string[] = []
      for (const more of [{}, { sessionId: session }, { sessionId: session }]) {
        const { id } = await accept(server, 'agents/talks', { input: 'x', ...more }, ann)
        await ended(server, id, ann)
        ids.push(id)
      }
      const [plain, first, last] = ids as [string, string, string]
      await post(server, path(plain), { score: 1 }, ann)
      await post(server, path(first), { score: -1, text: 'bad' }, ann)
      const list = async (query: string) => {
        const { status, text } = await ask(server, `/api/runs?${query}`, { headers: ann })
        return status === 200 ? JSON.parse(text).runs.map(({ id }: { id: string }) => id) : codeIn(text)
      }
      expect(await list('feedback=any')).toEqual([first, plain])
      expect(await list(`feedback=negative&sessionId=${session}`)).toEqual([first])
      expect(await list('feedback=positive')).toEqual([plain])
      expect(await list('feedback=good')).toBe('invalid_query')
      const { text } = await ask(server, `${pathOf(session)}/messages`, { headers: ann })
      expect(JSON.parse(text).turns).toMatchObject([
        { runId: last },
        { runId: first, feedback: { score: -1, text: 'bad', updatedAt: expect.any(String) } },
      ])
      expect(JSON.parse(text).turns[0]).not.toHaveProperty('feedback')
    })

    it('is said of a run that has ended', async () => {
      const ann = as(own('ann'))
      const gate = own('gate')
      for (const more of [{}, { sessionId: own('session') }]) {
        const { id } = await accept(server, 'agents/talks', { input: `waits ${gate}`, ...more }, ann)
        await eventually(async () => {
          const { status, text } = await post(server, path(id), { score: 1 }, ann)
          expect([status, codeIn(text)]).toEqual([409, 'session_busy'])
        })
      }
      await openGate(server, gate)
    })

    it.each<[string, object]>([
      ['nothing', {}],
      ['a score that is too high', { score: 1.1 }],
      ['a score that is none', { score: 'good' }],
      ['an empty text', { text: '' }],
      ['a text that is too long', { text: 'x'.repeat(4001) }],
      ['a session without a name', { score: 1, sessionId: 's' }],
    ])('is refused: %s', async (_, body) => {
      const { status, text } = await post(server, path(crypto.randomUUID()), body)
      expect([status, codeIn(text)]).toEqual([400, 'invalid_body'])
    })
  })

  describe('the export', () => {
    const exported = async (headers: Fields, query = '') => {
      const response = await fetch(`${server().url}/api/sessions/export${query}`, { headers })
      expect(response.headers.get('content-type')).toBe('application/x-ndjson')
      const lines = (await response.text()).split('\n')
      expect(lines.pop()).toBe('')
      return lines.map(line => JSON.parse(line))
    }

    it('has the turns of all sessions, with what was said of them', async () => {
      const ann = as(own('ann'))
      const [one, two] = [own('session'), own('session')]
      const runId = idOf(await say(server, 'first', one, ann))
      for (let index = 0; index < 25; index++) await say(server, `more ${index}`, one, ann)
      await say(server, 'other', two, ann, {}, 'agents/a%2Fb%20%25')
      await post(server, path(runId), { sessionId: one, name: 'talks', score: 1 }, ann)
      await eventually(async () => expect((await listed(server, ann)).sessions).toHaveLength(2))
      const all = await exported(ann)
      expect(all.map(({ input }) => input)).toEqual([
        'other',
        ...Array.from({ length: 25 }, (_, index) => `more ${24 - index}`),
        'first',
      ])
      expect(all.at(-1)).toEqual({
        ...{
          sessionId: one,
          kind: 'agent',
          name: 'talks',
          runId,
          input: 'first',
          text: 'you said first (0)',
        },
        ...{ status: 'completed', finishReason: 'stop', at: expect.any(Number), endedAt: expect.any(Number) },
        feedback: { score: 1, updatedAt: expect.any(String) },
      })
      expect(await exported(ann, '?name=talks&kind=agent')).toHaveLength(26)
      expect(await exported(ann, '?kind=team')).toEqual([])
      expect(await exported(ann, `?since=${all[10].at}`)).toHaveLength(11)
      expect(await exported(as(own('bob')))).toEqual([])
    })

    it('needs an identity and a right query', async () => {
      expect((await ask(server, '/api/sessions/export')).status).toBe(404)
      for (const query of ['?since=today', '?kind=other']) {
        const { status, text } = await ask(server, `/api/sessions/export${query}`, { headers: as('ann') })
        expect([status, codeIn(text)]).toEqual([400, 'invalid_query'])
      }
    })
  })
}
