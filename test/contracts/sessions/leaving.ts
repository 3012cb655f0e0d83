import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { as, own, type Server } from '../runs/client.ts'
import { listed, look, make, say } from './client.ts'

/** The service keeps three sessions of an owner. */
export function fewCases(server: Server): void {
  it('forgets the session that was used least recently', async () => {
    const ann = as(own('ann'))
    const ids = Array.from({ length: 4 }, () => own('session'))
    for (const id of ids) await say(server, 'x', id, ann)
    expect(await look(server, ids[0] ?? '', ann)).toBe('session_not_found')
    expect((await listed(server, ann)).sessions.map(({ id }) => id)).toEqual(ids.slice(1).reverse())
  })
}

/** The service keeps sessions for a second and a half. */
export function briefCases(server: Server): void {
  describe('a session whose time has come', () => {
    it('is gone from the list as well', async () => {
      const ann = as(own('ann'))
      const id = own('session')
      await say(server, 'x', id, ann)
      const { id: made } = await make(server, ann)
      const { id: given } = await make(server)
      await eventually(async () => {
        for (const each of [id, made]) expect(await look(server, each, ann)).toBe('session_not_found')
        expect(await look(server, given)).toBe('session_not_found')
        expect((await listed(server, ann)).sessions).toEqual([])
      })
      // Whoever uses such an id again has made it up.
      await say(server, 'x', given)
      expect(await look(server, given)).toBe('session_not_found')
    })
  })
}
