import { describe, expect, it } from 'vitest'
import type { Turn } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { accept, as, cancel, ended, get, noted, openGate, own, post, type Server } from './client.ts'

const PATH = '/api/agents/talks/run'

/** The turns of a session, and who has it. */
export function turnCases(server: Server): void {
  const say = (input: string, sessionId: string, more: object = {}) =>
    post(server, PATH, { input, sessionId, ...more })
  const start = (input: string, sessionId: string) => accept(server, 'agents/talks', { input, sessionId })
  const turnsOf = async (sessionId: string): Promise<Turn[]> => {
    const turns: Turn[] = JSON.parse(JSON.parse((await say('turns', sessionId)).text).text)
    return turns.slice(0, -1)
  }

  describe('the turns of a session', () => {
    it('tell what was said in each run, plain and stored, and how it ended', async () => {
      const sessionId = own('session')
      const plain = await say('one', sessionId, { messageId: 'm1' })
      const stored = await say('two', sessionId, { background: true })
      expect((await say('fails', sessionId)).status).toBe(500)
      const told = JSON.parse(JSON.parse((await say('read', sessionId)).text).text)
      expect(told.slice(0, 2)).toEqual([
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'one ' },
      ])
      expect(await turnsOf(sessionId)).toMatchObject([
        {
          ...{ runId: plain.headers.get('x-run-id'), kind: 'agent', name: 'talks', messageId: 'm1' },
          ...{ input: 'one', text: 'one ', status: 'completed', finishReason: 'stop' },
          ...{ at: expect.any(Number), endedAt: expect.any(Number) },
        },
        { runId: stored.headers.get('x-run-id'), input: 'two', text: 'two ', status: 'completed' },
        { input: 'fails', text: 'fails ', status: 'cut', error: 'agent_failed' },
        { input: 'read', status: 'completed' },
      ])
    })

    it('keep what was said before a cancel', async () => {
      const [sessionId, gate] = [own('session'), own('gate')]
      const { id } = await start(`says ${gate}`, sessionId)
      await noted(server, `${gate} started`)
      expect((await cancel(server, id)).status).toBe(200)
      expect(await turnsOf(sessionId)).toMatchObject([
        { runId: id, text: 'says ', status: 'cut', finishReason: 'cancelled' },
      ])
    })
  })

  describe('a message that replaces an earlier one', () => {
    const inputsOf = async (sessionId: string) => (await turnsOf(sessionId)).map(({ input }) => input)

    it('has its turn in place of that one, and of all after it, on a branch of its own', async () => {
      const sessionId = own('session')
      for (const id of ['one', 'two', 'three']) await say(id, sessionId, { messageId: id })
      const edited = await say('other', sessionId, { messageId: 'two', replaces: 'two' })
      expect(edited.status, edited.text).toBe(200)
      const told = JSON.parse(JSON.parse((await say('read', sessionId)).text).text)
      expect(told.filter(({ role }: { role: string }) => role === 'user')).toEqual([
        { role: 'user', content: 'one' },
        { role: 'user', content: 'other' },
      ])
      // Its own id is the same: it can be replaced again, by a stored run too.
      const again = { input: 'again', sessionId, messageId: 'new', replaces: 'two' }
      const { id } = await accept(server, 'agents/talks', again)
      expect((await ended(server, id)).status).toBe('completed')
      expect(await turnsOf(sessionId)).toMatchObject([
        { input: 'one', messageId: 'one', status: 'completed' },
        { runId: id, input: 'again', messageId: 'new', status: 'completed' },
      ])
    })

    it('waits for the run at work, and replaces its turn too', async () => {
      const [sessionId, gate] = [own('session'), own('gate')]
      await say('one', sessionId, { messageId: 'm1' })
      const first = await start(`says ${gate}`, sessionId)
      await noted(server, `${gate} started`)
      const asked = { input: 'other', sessionId, messageId: 'm2', replaces: 'm1' }
      const second = await accept(server, 'agents/talks', asked)
      // It has not begun, and so it has deleted nothing yet.
      expect((await get(server, second.id)).status).toBe('running')
      await openGate(server, gate)
      expect((await ended(server, first.id)).status).toBe('completed')
      expect((await ended(server, second.id)).status).toBe('completed')
      expect(await inputsOf(sessionId)).toEqual(['other'])
    })

    it("is refused where that is not there, or is another caller's", async () => {
      const sessionId = own('session')
      await say('one', sessionId, { messageId: 'm1' })
      await say('two', sessionId, { messageId: 'm2', replaces: 'm1' })
      const late = { input: 'three', sessionId, messageId: 'm3', replaces: 'gone' }
      const { id } = await accept(server, 'agents/talks', late)
      expect(await ended(server, id)).toMatchObject({ status: 'failed', error: { code: 'session_changed' } })
      const others = { input: 'x', sessionId, replaces: 'm2' }
      const refused = [await say('three', sessionId, late), await post(server, PATH, others, as(own('bob')))]
      for (const { status, text } of refused) {
        expect([status, JSON.parse(text).code], text).toEqual([409, 'session_changed'])
      }
      expect(await inputsOf(sessionId)).toEqual(['two'])
    })
  })

  describe('several runs of one session', () => {
    it('work one after the other', async () => {
      const sessionId = own('session')
      const gates = [own('gate'), own('gate'), own('gate')]
      const runs = [(await start(`says ${gates[0]}`, sessionId)).id]
      await noted(server, `${gates[0]} started`)
      for (const gate of gates.slice(1)) runs.push((await start(`says ${gate}`, sessionId)).id)
      // Whoever is before them has the session all the same.
      for (const gate of gates.reverse()) await openGate(server, gate)
      for (const id of runs) expect((await ended(server, id)).status).toBe('completed')
      const turns = await turnsOf(sessionId)
      expect(turns[0]?.runId).toBe(runs[0])
      expect(turns.map(({ runId }) => runId).sort()).toEqual(runs.sort())
      for (const [index, { at }] of turns.entries()) {
        expect(at).toBeGreaterThanOrEqual(turns[index - 1]?.endedAt ?? 0)
      }
    })

    it('are 8 that wait, and one that has left waits no more', async () => {
      const [sessionId, gate] = [own('session'), own('gate')]
      await start(`says ${gate}`, sessionId)
      await noted(server, `${gate} started`)
      const waiting = await Promise.all(Array.from({ length: 9 }, () => start('waits', sessionId)))
      const records = () => Promise.all(waiting.map(({ id }) => get(server, id)))
      await eventually(async () => {
        const codes = (await records()).flatMap(({ error }) => error?.code ?? [])
        expect(codes).toEqual(['session_busy'])
      })
      expect((await say('more', sessionId)).status).toBe(409)
      const left = (await records()).find(({ status }) => status === 'running')
      expect((await cancel(server, left?.id ?? '')).status).toBe(200)
      const last = await start('last', sessionId)
      await openGate(server, gate)
      expect((await ended(server, last.id)).status).toBe('completed')
      const turns = await turnsOf(sessionId)
      expect(turns.filter(({ input }) => input === 'waits')).toHaveLength(7)
      expect(turns.at(-1)).toMatchObject({ runId: last.id, input: 'last' })
    })
  })
}
