import { describe, expect, it } from 'vitest'
import type { SessionBranch } from '../../../src/features/sessions/branches.ts'
import type { ShownTurn } from '../../../src/features/sessions/turns.ts'
import { eventually } from '../../eventually.ts'
import type { Answer } from '../http/client.ts'
import { accept, as, ask, own, post, type Server } from '../runs/client.ts'
import { codeIn, fork, listed, look, pathOf, say, turnsOf } from './client.ts'

type Headers = Record<string, string>

/** The branches of a session: listed, read, chosen, gone on from, and deleted. */
export function branchingCases(server: Server): void {
  const read = async (id: string, headers: Headers, branch = '') => {
    const { status, text } = await ask(server, `${pathOf(id)}/messages${branch && `?branch=${branch}`}`, {
      headers,
    })
    expect(status, text).toBe(200)
    const { turns }: { turns: readonly ShownTurn[] } = JSON.parse(text)
    return turns.toReversed()
  }
  const inputs = async (...args: Parameters<typeof read>) => (await read(...args)).map(({ input }) => input)
  const branches = async (id: string, headers: Headers): Promise<SessionBranch[]> => {
    const { status, text } = await ask(server, `${pathOf(id)}/branches`, { headers })
    expect(status, text).toBe(200)
    return JSON.parse(text).branches
  }
  const update = (id: string, body: object, headers: Headers): Promise<Answer> =>
    ask(server, pathOf(id), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const remove = (id: string, runId: string, headers: Headers) =>
    ask(server, `${pathOf(id)}/branches/${runId}`, { method: 'DELETE', headers })
  const ran = async (input: string, id: string, headers: Headers, more: object = {}) => {
    const { status, text } = await say(server, input, id, headers, more)
    expect(status, text).toBe(200)
    return JSON.parse(text).runId as string
  }
  const codeOf = ({ status, text }: Answer) => [status, codeIn(text)]
  /** One, two, three, and a second message in the place of two. */
  const forked = async () => {
    const ann = as(own('ann'))
    const id = own('session')
    const runs: string[] = []
    for (const input of ['one', 'two', 'three']) runs.push(await ran(input, id, ann, { messageId: input }))
    runs.push(await ran('other', id, ann, { messageId: 'two', replaces: 'two' }))
    return { ann, id, runs: runs as [one: string, two: string, three: string, other: string] }
  }

  describe('the branches of a session', () => {
    it('stay when a message takes the place of another one, and are told', async () => {
      const { ann, id, runs } = await forked()
      const [one, two, three, other] = runs
      expect(await inputs(id, ann)).toEqual(['one', 'other'])
      expect(await inputs(id, ann, two)).toEqual(['one', 'two', 'three'])
      expect(await branches(id, ann)).toMatchObject([
        { runId: other, branchFrom: null, count: 2, lastMessage: 'you said other (2)', isHead: true },
        { runId: three, branchFrom: one, count: 3, lastMessage: 'you said three (4)' },
      ])
      const told = (await read(id, ann)).map(({ alternatives }) => alternatives)
      expect(told).toEqual([undefined, [two, other]])
      expect((await read(id, ann, three))[1]?.alternatives).toEqual([two, other])
    })

    it('are gone on from any turn, and the model is told that branch', async () => {
      const { ann, id, runs } = await forked()
      const [one, , three] = runs
      const { text } = JSON.parse((await say(server, 'four', id, ann, { branchFrom: three })).text)
      expect(text).toBe('you said four (6)')
      expect(await inputs(id, ann)).toEqual(['one', 'two', 'three', 'four'])
      const { text: beside } = JSON.parse((await say(server, 'beside', id, ann, { branchFrom: one })).text)
      expect(beside).toBe('you said beside (2)')
      expect((await read(id, ann)).at(-1)?.alternatives).toHaveLength(3)
      expect(await branches(id, ann)).toHaveLength(3)
    })

    it('are chosen: the next message comes after the newest turn of the branch', async () => {
      const { ann, id, runs } = await forked()
      const [, two] = runs
      const answer = await update(id, { head: two }, ann)
      expect([answer.status, JSON.parse(answer.text).lastMessage]).toEqual([200, 'you said three (4)'])
      expect(await inputs(id, ann)).toEqual(['one', 'two', 'three'])
      await ran('four', id, ann)
      expect(await inputs(id, ann)).toEqual(['one', 'two', 'three', 'four'])
      await eventually(async () =>
        expect((await listed(server, ann)).sessions).toMatchObject([{ lastMessage: 'you said four (6)' }]),
      )
    })

    it('have one who wins: whoever comes second is told', async () => {
      const { ann, id, runs } = await forked()
      const [one, two, , other] = runs
      const asked = await Promise.all(
        ['here', 'there'].map(input => say(server, input, id, ann, { ifHead: other })),
      )
      expect(asked.map(({ status }) => status).toSorted()).toEqual([200, 409])
      expect(codeOf(asked.find(({ status }) => status === 409)!)).toEqual([409, 'session_changed'])
      expect(codeOf(await update(id, { head: two, ifHead: other }, ann))).toEqual([409, 'session_changed'])
      expect(await inputs(id, ann)).toHaveLength(3)
      expect(codeOf(await say(server, 'x', id, ann, { branchFrom: one, replaces: 'two' }))).toEqual([
        400,
        'invalid_body',
      ])
    })

    it('are deleted from a turn on, with its runs; the branch before it counts then', async () => {
      const { ann, id, runs } = await forked()
      const [one, two, three, other] = runs
      const stored = await accept(server, 'agents/talks', { input: 'stored', sessionId: id }, ann)
      const ended = { input: 'stored', status: 'completed' }
      await eventually(async () => expect((await read(id, ann)).at(-1)).toMatchObject(ended))
      // The turn ends a moment before the record of its run.
      await eventually(async () => expect((await remove(id, other, ann)).status).toBe(204))
      expect(await inputs(id, ann)).toEqual(['one'])
      const record = await ask(server, `/api/runs/${stored.id}`, { headers: ann })
      expect(codeOf(record)).toEqual([404, 'run_not_found'])
      expect(codeOf(await remove(id, other, ann))).toEqual([404, 'run_not_found'])
      // Others come after the turn that is the last one now.
      expect(await branches(id, ann)).toMatchObject([
        { runId: three, branchFrom: one },
        { runId: one, branchFrom: null, count: 1, isHead: true },
      ])
      await ran('new', id, ann)
      expect(await inputs(id, ann)).toEqual(['one', 'new'])
      expect((await remove(id, two, ann)).status).toBe(204)
      expect(await branches(id, ann)).toHaveLength(1)
      expect((await remove(id, one, ann)).status).toBe(204)
      expect(await inputs(id, ann)).toEqual([])
      await ran('again', id, ann)
      expect(await inputs(id, ann)).toEqual(['again'])
    })

    it('are left alone while a run is at work there', async () => {
      const { ann, id, runs } = await forked()
      const [one, two] = runs
      const gate = own('gate')
      const { id: runId } = await accept(
        server,
        'agents/talks',
        { input: `waits ${gate}`, sessionId: id },
        ann,
      )
      await eventually(async () => expect(await turnsOf(server, id, ann)).toHaveLength(3))
      expect(codeOf(await remove(id, runId, ann))).toEqual([409, 'session_busy'])
      expect(codeOf(await remove(id, one, ann))).toEqual([409, 'session_busy'])
      expect(codeOf(await update(id, { head: two }, ann))).toEqual([409, 'session_busy'])
      expect((await remove(id, two, ann)).status).toBe(204)
      await ask(server, `/probe?gate=${gate}`)
      await eventually(async () => expect((await read(id, ann)).at(-1)?.status).toBe('completed'))
      expect(await branches(id, ann)).toHaveLength(1)
    })

    it('are copied one at a time', async () => {
      const { ann, id, runs } = await forked()
      const [, , three] = runs
      expect(await inputs((await fork(server, id, ann)).id, ann)).toEqual(['one', 'other'])
      const copy = await fork(server, id, ann, { runId: three })
      expect(await inputs(copy.id, ann)).toEqual(['one', 'two', 'three'])
      await ran('beside', copy.id, ann, { replaces: 'three' })
      expect(await inputs(copy.id, ann)).toEqual(['one', 'two', 'beside'])
      expect(await branches(id, ann)).toHaveLength(2)
      const twin = await ran('twin', copy.id, ann)
      // The turns of a copy have the runs of the first session, which stay.
      expect((await remove(copy.id, twin, ann)).status).toBe(204)
    })

    it('of others are not there, nor are turns of other sessions', async () => {
      const { ann, id, runs } = await forked()
      const [one] = runs
      const bob = as(own('bob'))
      expect(codeOf(await ask(server, `${pathOf(id)}/branches`, { headers: bob }))).toEqual([
        404,
        'session_not_found',
      ])
      expect(codeOf(await update(id, { head: one }, bob))).toEqual([404, 'session_not_found'])
      expect(codeOf(await remove(id, one, bob))).toEqual([404, 'session_not_found'])
      expect(await look(server, id, bob)).toBe('session_not_found')
      const elsewhere = await ran('x', own('session'), ann)
      for (const wrong of [elsewhere, 'x', '']) {
        expect(codeOf(await update(id, { head: wrong }, ann))).toEqual([404, 'run_not_found'])
        const messages = await ask(server, `${pathOf(id)}/messages?branch=${wrong || '%20'}`, {
          headers: ann,
        })
        expect(codeOf(messages)).toEqual([404, 'run_not_found'])
      }
      for (const field of ['branchFrom', 'ifHead'])
        expect(codeOf(await say(server, 'x', id, ann, { [field]: elsewhere }))).toEqual([
          409,
          'session_changed',
        ])
      expect(codeOf(await update(id, {}, ann))).toEqual([400, 'invalid_body'])
      expect(codeOf(await post(server, '/api/agents/talks/run', { input: 'x', ifHead: one }, ann))).toEqual([
        400,
        'invalid_body',
      ])
      expect(await inputs(id, ann)).toEqual(['one', 'other'])
    })
  })
}
