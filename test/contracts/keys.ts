/** What holds of keys on every store and runtime. */
import { describe, expect, it } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
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
