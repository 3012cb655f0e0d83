import { describe, expect, it } from 'vitest'
import { expectProblem, jsonRequest } from '../http/client.ts'
import { as, ask, type Fields, own, post, type Server, uuid } from './client.ts'

interface Page {
  readonly corrections: readonly Readonly<Record<string, unknown>>[]
  readonly nextCursor: string | null
}

const path = '/api/agents/corrected/corrections'
const body = { originalValue: 'Oslo', correctedValue: { city: 'Bergen' } }

export function correctionCases(server: Server): void {
  const add = (more: object = {}, headers: Fields = {}, to = path) =>
    post(server, to, { ...body, ...more }, headers)
  const list = async (headers: Fields, query = '', from = path): Promise<Page> => {
    const answer = await ask(server, from + query, { headers })
    expect(answer.status, answer.text).toBe(200)
    return JSON.parse(answer.text)
  }

  describe('corrections', () => {
    it('are kept with all that they say', async () => {
      const ann = own('ann')
      const more = {
        field: 'city',
        reason: 'It moved',
        entityKey: 'order 7',
        runId: crypto.randomUUID(),
        sessionId: 's1',
        scope: 'tenant',
        tags: ['a', 'b'],
      }
      const answer = await add({ ...more, userId: 'somebody else', unknown: 1 }, as(ann))
      expect(answer.status, answer.text).toBe(201)
      const correction = JSON.parse(answer.text)
      expect(correction).toEqual({
        ...body,
        ...more,
        id: expect.stringMatching(uuid),
        agent: 'corrected',
        createdAt: expect.any(String),
        userId: ann,
      })
      expect(await list(as(ann))).toEqual({ corrections: [correction], nextCursor: null })
    })

    it('are their owner’s, and of one agent', async () => {
      const [ann, bob] = [own('ann'), own('bob')]
      await add({}, as(ann))
      expect((await list(as(bob))).corrections).toEqual([])
      expect((await list(as(ann), '', '/api/agents/corrected-too/corrections')).corrections).toEqual([])
      expect((await list(as(ann))).corrections).toHaveLength(1)
    })

    it('are listed in pages, newest first', async () => {
      const ann = as(own('ann'))
      for (let index = 0; index < 7; index++) await add({ originalValue: index }, ann)
      const seen: unknown[] = []
      let cursor = ''
      do {
        const page = await list(ann, `?limit=3${cursor}`)
        seen.push(...page.corrections.map(({ originalValue }) => originalValue))
        cursor = page.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`
      } while (cursor !== '')
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0])
    })

    it('are cases if they have an input, which are exported', async () => {
      const ann = as(own('ann'))
      await add({ reason: 'no case' }, ann)
      for (let index = 0; index < 25; index++) {
        const more = index === 0 ? { reason: 'It moved', tags: ['a'], runId: 'r' } : {}
        const input = index === 1 ? null : `Where is ${index}?`
        expect((await add({ input, ...more }, ann)).status).toBe(201)
      }
      expect((await list(ann, '?limit=100')).corrections).toHaveLength(26)
      const { status, headers, text } = await ask(server, `${path}/export`, { headers: ann })
      expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
      const lines = text.split('\n')
      expect(lines.pop()).toBe('')
      const cases = lines.map(line => JSON.parse(line))
      expect(cases.map(({ input }) => input)).toEqual([
        ...Array.from({ length: 23 }, (_, index) => `Where is ${24 - index}?`),
        null,
        'Where is 0?',
      ])
      expect(cases.at(-1)).toEqual({
        ...{
          id: expect.stringMatching(uuid),
          input: 'Where is 0?',
          output: 'Oslo',
          expected: { city: 'Bergen' },
        },
        ...{ note: 'It moved', tags: ['a'], runId: 'r', createdAt: expect.any(String) },
      })
      expect((await ask(server, `${path}/export`, { headers: as(own('bob')) })).text).toBe('')
      const itself = '/api/agents/corrected-by-itself/corrections/export'
      for (const [at, sent] of [
        [`${path}/export`, {}],
        [itself, ann],
        ['/api/agents/echo/corrections/export', ann],
      ] as const)
        await expectProblem(server, await ask(server, at, { headers: sent }), 404, 'not_found')
    })

    it('are refused where they are too large to be one', async () => {
      const answer = await add({ originalValue: 'x'.repeat(70_000) })
      await expectProblem(server, answer, 413, 'body_too_large')
    })

    it('may be sent without an identity, and are then listed to nobody', async () => {
      const answer = await add({ userId: 'u1' })
      expect([answer.status, JSON.parse(answer.text).userId]).toEqual([201, 'u1'])
      await expectProblem(server, await ask(server, path), 404, 'not_found')
    })

    it('go where the agent wants them', async () => {
      const ann = own('ann')
      const answer = await add({ field: ann }, as(ann), '/api/agents/corrected-by-itself/corrections')
      expect(answer.status).toBe(201)
      const listed = await ask(server, '/api/agents/corrected-by-itself/corrections', { headers: as(ann) })
      await expectProblem(server, listed, 404, 'not_found')
    })

    it.each<[string, unknown, string]>([
      ['no original value', { correctedValue: 1 }, 'originalValue'],
      ['no corrected value', { originalValue: 1 }, 'correctedValue'],
      ['a field that is no text', { ...body, field: 7 }, 'field'],
      ['an empty reason', { ...body, reason: '' }, 'reason'],
      ['too many tags', { ...body, tags: Array.from({ length: 51 }, String) }, 'tags'],
      ['no object', [body], 'body'],
    ])('are refused with %s', async (_, wrong, names) => {
      const problem = await expectProblem(server, await post(server, path, wrong), 400, 'invalid_body')
      expect(problem.detail).toContain(names)
    })

    it('are refused where they are nested too deep, and listed all the same', async () => {
      const headers = as(own('ann'))
      const deep = `{"originalValue":1,"correctedValue":${'['.repeat(6000)}${']'.repeat(6000)}}`
      const answer = await ask(server, path, { ...jsonRequest({}, headers), body: deep })
      await expectProblem(server, answer, 400, 'invalid_body')
      expect((await ask(server, path, { headers })).status).toBe(200)
    })

    it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense'])('are not listed by %s', async query => {
      const answer = await ask(server, `${path}?${query}`, { headers: as(own('ann')) })
      await expectProblem(server, answer, 400, 'invalid_query')
    })

    it('are for agents that take them', async () => {
      await expectProblem(server, await add({}, {}, '/api/agents/echo/corrections'), 404, 'not_found')
      await expectProblem(server, await add({}, {}, '/api/agents/nobody/corrections'), 404, 'agent_not_found')
      const put = await ask(server, path, { method: 'PUT' })
      expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST'])
    })
  })
}
