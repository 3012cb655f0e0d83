import { describe, expect, it } from 'vitest'
import { as, type Fields, own, post, type Server } from './client.ts'

/** The memory of agents for a session. */
export function sessionCases(server: Server): void {
  const say = async (input: string, body: object, headers: Fields = {}, to = '/api/agents/remembers') => {
    const answer = await post(server, `${to}/run`, { input, ...body }, headers)
    expect(answer.status, answer.text).toBe(200)
    return JSON.parse(answer.text).text
  }

  describe('the session of an agent', () => {
    it('is remembered from run to run, plain and followed', async () => {
      const sessionId = own('session')
      expect(await say('one', { sessionId })).toBe('')
      expect(await say('two', { sessionId, background: true })).toBe('one')
      expect(await say('three', { sessionId })).toBe('one,two')
      expect(await say('four', {})).toBe('nothing')
    })

    it('belongs to its owner, whatever the client claims', async () => {
      const sessionId = own('session')
      const [ann, bob] = [own('ann'), own('bob')]
      await say('of ann', { sessionId }, as(ann))
      expect(await say('of bob', { sessionId }, as(bob))).toBe('')
      expect(await say('of a claim', { sessionId, userId: ann })).toBe('')
      expect(await say('of nobody', { sessionId })).toBe('')
      expect(await say('of a claim', { sessionId, userId: ann })).toBe('of a claim')
      expect(await say('again', { sessionId }, as(ann))).toBe('of ann')
    })

    it('is of one agent, under the name by which it is asked for', async () => {
      const sessionId = own('session')
      await say('one', { sessionId })
      expect(await say('two', { sessionId }, {}, '/api/agents/remembers-too')).toBe('')
      expect(await say('three', { sessionId }, {}, '/api/teams/remembering')).toBe('one')
    })

    it('loses its oldest messages where there are too many, or they are too long', async () => {
      const sessionId = own('session')
      for (let index = 0; index < 4; index++) await say(`${index} ${'x'.repeat(300)}`, { sessionId })
      const kept = (await say('end', { sessionId })).split(',').map((text: string) => text[0])
      expect(kept).toEqual(['1', '2', '3'])
      const many = own('session')
      for (let index = 0; index < 12; index++) await say(String(index), { sessionId: many })
      expect(await say('end', { sessionId: many })).toBe('2,3,4,5,6,7,8,9,10,11')
    })

    it('is kept with the runs alone: without a store there is none', async () => {
      expect(await say('one', { sessionId: own('session') }, {}, '/none/agents/remembers')).toBe('nothing')
    })
  })
}
