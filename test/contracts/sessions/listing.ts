import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { accept, as, ask, own, post, type Server, uuid } from '../runs/client.ts'
import { allListed, codeIn, listed, look, make, pathOf, rename, say, turnPage, turnsOf } from './client.ts'

/** The sessions of a caller, and what is told of each. */
export function listingCases(server: Server): void {
  describe('the sessions of a caller', () => {
    it('are listed newest first, with what was said first and last', async () => {
      const ann = as(own('ann'))
      const [old, young] = [own('old'), own('young')]
      await say(server, `A first\n  message ${'x'.repeat(200)}`, old, ann)
      await say(server, 'again', old, ann)
      await say(server, 'hello', young, ann)
      await eventually(async () => {
        expect((await listed(server, ann)).sessions).toEqual([
          {
            ...{ id: young, kind: 'agent', name: 'talks', title: 'hello', lastMessage: 'you said hello (0)' },
            ...{ count: 1, createdAt: expect.any(String), updatedAt: expect.any(String) },
          },
          expect.objectContaining({
            ...{
              id: old,
              title: `A first message ${'x'.repeat(64)}`,
              lastMessage: 'you said again (2)',
              count: 2,
            },
          }),
        ])
      })
      expect((await listed(server, as(own('bob')))).sessions).toEqual([])
    })

    it('are filtered by kind and name, and paged', async () => {
      const ann = as(own('ann'))
      // One id is of two servables: these are two sessions.
      const ids = Array.from({ length: 5 }, () => own('é/ %'))
      for (const id of ids) await say(server, 'x', id, ann)
      await say(server, 'x', ids[0] ?? '', ann, {}, 'agents/a%2Fb%20%25')
      await say(server, 'x', ids[0] ?? '', ann, {}, 'teams/counting')
      await eventually(async () => expect(await allListed(server, ann, '?limit=3')).toHaveLength(7))
      const idsOf = async (query: string) => (await allListed(server, ann, query)).map(({ id }) => id)
      expect(await idsOf('?limit=2&kind=agent&name=talks')).toEqual(ids.toReversed())
      expect(await idsOf('?limit=1&name=a%2Fb%20%25')).toEqual([ids[0]])
      expect(await idsOf('?limit=100&kind=team')).toEqual([ids[0]])
      expect(await idsOf('?limit=100&kind=workflow')).toEqual([])
      expect(await look(server, ids[0] ?? '', ann, 'agents/a%2Fb%20%25')).toMatchObject({ name: 'a/b %' })
    })

    it('need an identity', async () => {
      const { status, text } = await ask(server, '/api/sessions')
      expect([status, codeIn(text)]).toEqual([404, 'not_found'])
    })

    it('refuse queries that are wrong', async () => {
      for (const query of ['?limit=0', '?limit=101', '?kind=other', '?cursor=x', '?cursor=W10']) {
        const { status, text } = await ask(server, `/api/sessions${query}`, { headers: as(own('ann')) })
        expect([status, codeIn(text)]).toEqual([400, 'invalid_query'])
      }
    })
  })

  describe('a session', () => {
    it('is begun with an id that nobody can guess, and no identity', async () => {
      const { id, ...made } = await make(server, {}, { title: ' A title ' })
      expect(id).toMatch(uuid)
      expect(made).toMatchObject({
        kind: 'agent',
        name: 'talks',
        title: 'A title',
        lastMessage: null,
        count: 0,
      })
      expect(await turnsOf(server, id)).toEqual([])
      await say(server, 'hello', id)
      expect(await look(server, id)).toMatchObject({
        title: 'A title',
        lastMessage: 'you said hello (0)',
        count: 1,
      })
      expect(await turnsOf(server, id)).toMatchObject([{ input: 'hello', status: 'completed' }])
      // Of another agent it is another session.
      expect(await look(server, id, {}, 'agents/a%2Fb%20%25')).toBe('session_not_found')
    })

    it('is listed as soon as its owner has begun it', async () => {
      const ann = as(own('ann'))
      const { id } = await make(server, ann)
      expect((await listed(server, ann)).sessions).toMatchObject([{ id, title: null, count: 0 }])
      expect(await look(server, id)).toBe('session_not_found')
    })

    it('is of something that is served', async () => {
      const { status, text } = await post(server, '/api/sessions', { name: 'nobody' })
      expect([status, codeIn(text)]).toEqual([404, 'agent_not_found'])
    })

    it('opens for nobody else, and for no claim', async () => {
      const [ann, bob] = [own('ann'), own('bob')]
      const [id, claimed, madeUp] = [own('session'), own('claimed'), own('made up')]
      await say(server, 'secret', id, as(ann))
      await say(server, 'secret', claimed, {}, { userId: ann })
      await say(server, 'secret', madeUp)
      expect(await look(server, id, as(ann))).toMatchObject({ id })
      for (const [each, headers] of [
        [id, as(bob)],
        [id, {}],
        [claimed, as(ann)],
        [claimed, {}],
        [madeUp, {}],
      ] as const) {
        expect(await look(server, each, headers)).toBe('session_not_found')
        for (const [method, below, body] of [
          ['GET', '/messages', undefined],
          ['PATCH', '', { title: 'mine' }],
          ['POST', '/fork', {}],
        ] as const) {
          const init = {
            method,
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          }
          const answer = await ask(server, `${pathOf(each)}${below}?userId=${ann}`, init)
          expect([answer.status, codeIn(answer.text)]).toEqual([404, 'session_not_found'])
        }
      }
      // A claim in a session that was given out is in a session of its own.
      const given = await make(server)
      await say(server, 'secret', given.id, {}, { userId: ann })
      expect(await turnsOf(server, given.id)).toEqual([])
    })

    it('has an id of any characters', async () => {
      const ann = as(own('ann'))
      for (const id of ['a/b?c#d', '%', '%2F', '/../..', ' ', '["a"]', 'é日😀', 'x'.repeat(500)]) {
        await say(server, 'hello', id, ann)
        expect(await look(server, id, ann)).toMatchObject({ id, count: 1 })
        expect(await turnsOf(server, id, ann)).toHaveLength(1)
      }
      expect(await look(server, 'x'.repeat(501), ann)).toBe('session_not_found')
    })

    it('gets another title, and keeps its place in the list', async () => {
      const ann = as(own('ann'))
      const [one, two] = [own('one'), own('two')]
      for (const id of [one, two]) await say(server, 'hello', id, ann)
      const answer = await rename(server, one, 'Another title', ann)
      expect([answer.status, JSON.parse(answer.text).title]).toEqual([200, 'Another title'])
      await say(server, 'more', two, ann)
      await eventually(async () => {
        const titles = (await listed(server, ann)).sessions.map(({ title, count }) => [title, count])
        expect(titles).toEqual([
          ['hello', 2],
          ['Another title', 1],
        ])
      })
      await say(server, 'more', one, ann)
      expect(await look(server, one, ann)).toMatchObject({ title: 'Another title', count: 2 })
      for (const title of ['', '  ', 'x'.repeat(201), 1, undefined]) {
        const wrong = await rename(server, one, title, ann)
        expect([wrong.status, codeIn(wrong.text)]).toEqual([400, 'invalid_body'])
      }
    })

    it('may be changed by pages that may call', async () => {
      const headers = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
      const answer = await ask(server, pathOf('x'), { method: 'OPTIONS', headers })
      expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH')
    })
  })

  describe('the turns of a session', () => {
    it('are told newest first, in pages', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      for (const input of ['one', 'two', 'fails', 'four'])
        await say(server, input, id, ann, { messageId: `m-${input}` })
      const first = await turnPage(server, id, ann, '?limit=3')
      expect(first.turns).toMatchObject([
        {
          input: 'four',
          messageId: 'm-four',
          text: 'you said four (4)',
          status: 'completed',
          finishReason: 'stop',
        },
        { input: 'fails', status: 'failed', error: 'agent_failed' },
        {
          input: 'two',
          runId: expect.stringMatching(uuid),
          at: expect.any(Number),
          endedAt: expect.any(Number),
        },
      ])
      const next = await turnPage(server, id, ann, `?limit=3&cursor=${first.nextCursor}`)
      expect([next.turns.map(({ input }) => input), next.nextCursor]).toEqual([['one'], null])
    })

    it('have the one that is at work, which can be followed', async () => {
      const ann = as(own('ann'))
      const [id, gate] = [own('session'), own('gate')]
      await say(server, 'before', id, ann)
      const run = await accept(server, 'agents/talks', { input: `waits ${gate}`, sessionId: id }, ann)
      await eventually(async () =>
        expect(await look(server, id, ann)).toMatchObject({ isRunning: true, count: 2 }),
      )
      expect(await turnsOf(server, id, ann)).toMatchObject([
        { runId: run.id, status: 'running', input: `waits ${gate}` },
        { input: 'before' },
      ])
      await ask(server, `/probe?gate=${gate}`)
      const stream = await ask(server, `/api/runs/${run.id}/stream`, { headers: ann })
      expect(stream.text).toContain('"finish"')
      await eventually(async () => {
        expect(await look(server, id, ann)).not.toHaveProperty('isRunning')
        expect((await turnsOf(server, id, ann))[0]).toMatchObject({ status: 'completed' })
      })
    })
  })
}
