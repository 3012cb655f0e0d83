/** Whose a call is, and where its bounds are. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { as, own, type Server } from '../runs/client.ts'
import { ask, begin, call, callOf, expectError, open, said, send, TASKS, told } from './client.ts'
import { LIMITS } from './service.ts'

export function limitingCases(server: Server): void {
  describe('a caller', () => {
    it('is who the middleware says, for agents too', async () => {
      const ann = own('ann')
      expect(said(await call(server, 'knows', 'x', { headers: as(ann) }))).toBe(ann)
      expect(said(await call(server, 'knows'))).toBe('nobody')
      const session = await begin(server, '2025-06-18', {}, as(ann))
      expect(said((await told(session.call('knows'))).json.result)).toBe(ann)
    })

    it('has sessions of its own', async () => {
      const sessionId = own('session')
      const turn = async (headers: object) =>
        said(await call(server, 'recalls', { input: 'x', sessionId }, { headers: { ...headers } }))
      const [ann, eve] = [as(own('ann')), as(own('eve'))]
      for (const [headers, turns] of [
        [ann, 0],
        [eve, 0],
        [{}, 0],
        [ann, 2],
      ] as const)
        expect(await turn(headers)).toBe(`${turns} before x in ${sessionId}`)
    })
  })

  describe('a bound', () => {
    it('of runs at work refuses a call, which works again after them', async () => {
      const asked = { headers: as(own('busy')), can: TASKS }
      const input = own('busy')
      const more = () => told(ask(server, 'tools/call', callOf('gated_task', input), asked))
      for (let count = 0; count < LIMITS.maxRunningPerOwner; count++)
        expect((await more()).json.result.resultType).toBe('task')
      const refused = await more()
      expect(expectError(refused, [429, -32000]).data).toEqual({ code: 'too_many_runs' })
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      await open(server, input)
      await eventually(async () => expect((await more()).json.result?.resultType).toBe('task'))
    })

    it('of requests refuses every message', async () => {
      const headers = { 'x-counted': own('client') }
      for (let count = 0; count < LIMITS.maxRequests; count++) await call(server, 'thinks', 'x', { headers })
      for (const method of ['tools/list', 'tools/call', 'server/discover']) {
        const refused = await told(ask(server, method, callOf('thinks'), { headers }))
        expect(expectError(refused, [429, -32000], null).data).toEqual({ code: 'rate_limited' })
        expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      }
    })

    it('of bodies is that of the service', async () => {
      const large = { ...callOf('thinks', 'x'.repeat(LIMITS.maxBodyBytes)) }
      const refused = await told(ask(server, 'tools/call', large))
      expect(expectError(refused, [413, -32000], null).data).toEqual({ code: 'body_too_large' })
      const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
      const { status, json } = await told(send(server, { jsonrpc: '2.0', id: 1, method: deep }))
      expect([status, json.error.code]).toEqual([200, -32601])
    })
  })
}
