/** What holds of schedules on every store and runtime. */
import { describe, expect, it } from 'vitest'
import type { SchedulePage } from '../../src/features/schedules/plugin.ts'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { as, ask } from './runs/client.ts'
import { asAdmin, expectTicks, read, toldTo } from './schedules/client.ts'
import { served } from './served.ts'

export function schedulesContract(deploy: Deploy): void {
  describe('schedules', () => {
    const server = served(() => deploy('usual'))

    it('start a run each time, for their owner', async () => {
      const ticks = await expectTicks(server, 'bob', 3)
      const [first] = await toldTo(server, 'bob')
      expect(first).toMatchObject({ name: 'others', input: 'and', identity: 'bob', sessionId: 's' })
      const { body } = await asAdmin(server, '/others')
      expect(Date.parse(body.lastRun?.tickAt ?? '')).toBeGreaterThanOrEqual(ticks.at(-1) ?? 0)
      expect(Date.parse(body.nextTickAt ?? '')).toBeGreaterThan(ticks[0] ?? 0)
    })

    it('are listed in the order of the code, in pages', async () => {
      const first = await asAdmin<SchedulePage>(server, '?limit=3')
      expect(first.body.schedules.map(({ name }) => name)).toEqual(['seconds', 'others', 'stuck'])
      const next = await asAdmin<SchedulePage>(server, `?limit=3&cursor=${first.body.nextCursor}`)
      expect(next.body).toMatchObject({ nextCursor: null })
      const [last] = next.body.schedules
      expect(last).toEqual({
        ...{ name: 'ticks', cron: '0 0 1 1 *', timezone: 'Asia/Tokyo', owner: 'ada', missed: 'run' },
        ...{ target: { kind: 'agent', name: 'ticks' }, sessionId: null, isPaused: false },
        ...{ nextTickAt: expect.stringMatching(/-12-31T15:00:00.000Z$/), lastRun: null, lastError: null },
      })
      expect((await asAdmin(server, '?cursor=nobody')).body).toMatchObject({ code: 'invalid_query' })
    })

    it('pause, and go on', async () => {
      await expectTicks(server, 'ada', 1)
      const paused = await asAdmin(server, '/seconds/pause', 'POST')
      expect(paused).toMatchObject({ status: 200, body: { isPaused: true, nextTickAt: null } })
      const last = await eventually(async () => {
        const { body } = await asAdmin(server, '/seconds')
        expect(body.lastRun?.status).toBe('completed')
        return body.lastRun
      })
      const meanwhile = (await expectTicks(server, 'bob', 1)).length
      await expectTicks(server, 'bob', meanwhile + 2)
      expect((await asAdmin(server, '/seconds')).body.lastRun).toEqual(last)
      expect((await asAdmin(server, '/seconds/resume', 'POST')).body.isPaused).toBe(false)
      await eventually(async () =>
        expect((await asAdmin(server, '/seconds')).body.lastRun?.id).not.toBe(last?.id),
      )
    })

    it('start a run by hand, once for each key', async () => {
      const run = (key: string) =>
        asAdmin<{ runId: string }>(server, '/ticks/run', 'POST', { 'idempotency-key': key })
      const started = await run('a')
      expect(started).toMatchObject({ status: 202, body: { schedule: 'ticks' } })
      expect((await run('a')).body).toEqual(started.body)
      expect((await run('b')).body).not.toEqual(started.body)
      await eventually(async () => {
        const { status, result } = await read(server, started.body.runId, 'ada')
        expect(status).toBe('completed')
        expect(result?.text).toContain('new year')
      })
      // The run of the other key came last.
      await eventually(async () =>
        expect((await asAdmin(server, '/ticks')).body.lastRun).toMatchObject({ status: 'completed' }),
      )
    })

    it('say why a run could not be started', async () => {
      await eventually(async () =>
        expect((await asAdmin(server, '/stuck')).body).toMatchObject({
          lastError: { code: 'too_many_runs' },
          lastRun: { status: 'running' },
        }),
      )
    })

    it('are for administrators alone', async () => {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/seconds'],
        ['POST', '/seconds/run'],
        ['POST', '/seconds/pause'],
        ['GET', '/nobody'],
      ] as const) {
        const init = { method, headers: as('ada') }
        expect((await ask(server, `/api/schedules${path}`, init)).status, `${method} ${path}`).toBe(401)
      }
      expect(await asAdmin(server, '/nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect((await asAdmin(server, '/nobody/run', 'POST')).status).toBe(404)
      expect((await asAdmin(server, '/seconds', 'DELETE')).status).toBe(405)
    })
  })
}
