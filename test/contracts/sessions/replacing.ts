import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { as, ask, own, post, type Server } from '../runs/client.ts'
import { listed, pathOf, say, turnsOf } from './client.ts'

/** A message that replaces an earlier one, as its owner sees the session afterwards. */
export function replacingCases(server: Server): void {
  describe('a message that replaces an earlier one', () => {
    it('is the newest one, in the session and in lists', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      for (const input of ['one', 'two', 'three']) await say(server, input, id, ann, { messageId: input })
      const { text } = JSON.parse((await say(server, 'other', id, ann, { replaces: 'two' })).text)
      expect(text).toBe('you said other (2)')
      expect((await turnsOf(server, id, ann)).map(({ input }) => input)).toEqual(['other', 'one'])
      await eventually(async () =>
        expect((await listed(server, ann)).sessions).toMatchObject([
          { id, title: 'one', lastMessage: 'you said other (2)' },
        ]),
      )
    })

    it('leaves what was said of the turns, and has members remember their branch', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      const count = async (more: object) => {
        const { text, runId } = JSON.parse((await say(server, 'x', id, ann, more, 'teams/counting')).text)
        return { text, runId }
      }
      await count({ messageId: 'm1' })
      const second = await count({ messageId: 'm2' })
      expect(second.text).toBe('2')
      const feedback = `/api/runs/${second.runId}/feedback`
      const where = { kind: 'team', name: 'counting', sessionId: id }
      expect((await post(server, feedback, { ...where, score: 1 }, ann)).status).toBe(200)
      expect((await count({ replaces: 'm2' })).text).toBe('2')
      const said = await ask(server, `${feedback}?${new URLSearchParams(where)}`, { headers: ann })
      expect(said.status, said.text).toBe(200)
      const { turns } = JSON.parse(
        (await ask(server, `${pathOf(id, 'teams/counting')}/messages`, { headers: ann })).text,
      )
      expect(turns).toHaveLength(2)
    })
  })
}
