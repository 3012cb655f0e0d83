import { describe, expect, it } from 'vitest'
import { toBase64 } from '../../../src/web/base64.ts'
import { eventually } from '../../eventually.ts'
import { bytesOf } from '../files/bytes.ts'
import { accept, as, ask, own, post, type Server, uuid } from '../runs/client.ts'
import { codeIn, fork, listed, look, make, pathOf, say, turnsOf } from './client.ts'

/** Copies of sessions. */
export function forkingCases(server: Server): void {
  const inputsOf = async (id: string, headers: Record<string, string>) =>
    (await turnsOf(server, id, headers)).map(({ input }) => input).toReversed()

  describe('a fork', () => {
    it('has the turns up to one, and goes its own way', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      for (const input of ['one', 'two', 'three']) await say(server, input, id, ann)
      const [, two] = await turnsOf(server, id, ann)
      const made = await fork(server, id, ann, { runId: two?.runId })
      expect(made).toMatchObject({
        id: expect.stringMatching(uuid),
        title: 'one',
        lastMessage: 'you said two (2)',
        count: 2,
      })
      const { text } = JSON.parse((await say(server, 'other', made.id, ann)).text)
      expect(text).toBe('you said other (4)')
      expect(await inputsOf(made.id, ann)).toEqual(['one', 'two', 'other'])
      expect(await inputsOf(id, ann)).toEqual(['one', 'two', 'three'])
      await eventually(async () =>
        expect((await listed(server, ann)).sessions.map(each => each.id)).toEqual([made.id, id]),
      )
      expect(await look(server, made.id, as(own('bob')))).toBe('session_not_found')
    })

    it('has all turns that have ended, and a title of its own', async () => {
      const ann = as(own('ann'))
      const [id, gate] = [own('session'), own('gate')]
      await say(server, 'one', id, ann)
      const { id: runId } = await accept(
        server,
        'agents/talks',
        { input: `waits ${gate}`, sessionId: id },
        ann,
      )
      await eventually(async () => expect(await turnsOf(server, id, ann)).toHaveLength(2))
      const made = await fork(server, id, ann, { title: 'A copy' })
      expect(made).toMatchObject({ title: 'A copy', count: 1 })
      expect(await inputsOf(made.id, ann)).toEqual(['one'])
      const busy = await post(server, `${pathOf(id)}/fork`, { runId }, ann)
      expect([busy.status, codeIn(busy.text)]).toEqual([409, 'session_busy'])
      await ask(server, `/probe?gate=${gate}`)
    })

    it('can be made of what was given out, without an identity', async () => {
      const { id } = await make(server)
      await say(server, 'one', id)
      const made = await fork(server, id)
      expect(await inputsOf(made.id, {})).toEqual(['one'])
      expect(await inputsOf((await fork(server, made.id)).id, {})).toEqual(['one'])
    })

    it('of a turn that is not there is refused', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await say(server, 'one', id, ann)
      const answer = await post(server, `${pathOf(id)}/fork`, { runId: crypto.randomUUID() }, ann)
      expect([answer.status, codeIn(answer.text)]).toEqual([404, 'run_not_found'])
    })

    it('takes what members remember along with all turns, and with fewer none', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const count = async (sessionId: string) =>
        JSON.parse((await say(server, 'x', sessionId, ann, {}, 'teams/counting')).text).text
      expect([await count(id), await count(id)]).toEqual(['1', '2'])
      const path = pathOf(id, 'teams/counting')
      const [, first] = JSON.parse((await ask(server, `${path}/messages`, { headers: ann })).text).turns
      const forked = async (body: object) =>
        JSON.parse((await post(server, `${path}/fork`, body, ann)).text).id
      expect(await count(await forked({}))).toBe('3')
      expect(await count(await forked({ runId: first.runId }))).toBe('1')
    })

    it('has the files of its turns', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const data = toBase64(bytesOf({ size: 5000, seed: 4 }))
      await say(
        server,
        [
          { type: 'file', data, mimeType: 'a/b' },
          { type: 'text', text: 'look' },
        ],
        id,
        ann,
      )
      const made = await fork(server, id, ann)
      const [turn] = await turnsOf(server, made.id, ann)
      const [, address = ''] = /"data":"(.*?)"/.exec(JSON.stringify(turn)) ?? []
      expect(address).toMatch(/^\/api\/runs\/.+\/input$/)
      expect((await ask(server, address, { headers: ann })).status).toBe(200)
    })
  })
}
