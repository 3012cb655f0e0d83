/** What holds of keys on every store and runtime. */
import { describe, expect, it } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { clientOf, plain, start, stock } from './gateway/client.ts'
import { issue, manage, revoke, run, short } from './keys/client.ts'
import { keepingCases } from './keys/keeping.ts'
import { ratingCases } from './keys/rating.ts'
import { scopingCases } from './keys/scoping.ts'
import { served } from './served.ts'

export function keysContract(deploy: Deploy): void {
  describe('keys', () => {
    const server = served(() => deploy('usual'))
    keepingCases(server)
    describe('and scopes', () => scopingCases(server))
    describe('and rates', () => ratingCases(server))
  })
  describe('keys whose rates are shared', () => ratingCases(served(() => deploy('shared'))))
  describe('an open socket', () => {
    const server = served(() => deploy('brisk'))
    const ofStock = async (token: string) => {
      const socket = stock(server, { auth: { token } })
      const closed = new Promise(resolve => socket.once('disconnect', resolve))
      return { client: clientOf(socket), closed }
    }
    const ofPlain = async (token: string) => {
      const client = await plain(server, { connect: { token } })
      return { client, closed: client.closed }
    }
    it.each([
      ['of Socket.IO', ofStock],
      ['that is plain', ofPlain],
    ])('%s is closed once its key is revoked', async (_, open) => {
      const [lent, kept] = [await issue(server), await issue(server)]
      const [ends, stays] = [await open(lent.key), await open(kept.key)]
      for (const { client } of [ends, stays]) await start(client, 'agent.run', { name: 'says', input: 'x' })
      await revoke(server, lent)
      await ends.closed
      await start(stays.client, 'agent.run', { name: 'says', input: 'x' })
    })
  })
  describe('a few keys', () => {
    const server = served(() => deploy('few'))
    it('are no more than allowed, and one that is revoked makes room', async () => {
      const [first] = [await issue(server), await issue(server), await issue(server)]
      const body = { owner: 'ada', name: 'more', scopes: ['run'] }
      expect(short(await manage(server, 'POST', '', body))).toBe('409 too_many_caller_keys')
      await revoke(server, first)
      const { key } = await issue(server)
      expect(short(await run(server, key))).toBe('200')
      expect(short(await manage(server, 'GET', `/${first.id}`))).toBe('404 caller_key_not_found')
      expect(short(await manage(server, 'POST', '', body))).toBe('409 too_many_caller_keys')
    })
  })
}
