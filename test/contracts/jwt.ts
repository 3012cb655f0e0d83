/** What holds of tokens of an identity provider on every runtime. */
import { afterAll, describe, expect, it } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { clientOf, connected, refusal, start, stock } from './gateway/client.ts'
import { jsonRequest } from './http/client.ts'
import { type Issuer, newPair, startIssuer } from './jwt/issuer.ts'
import type { Deployment } from './runs/client.ts'
import { served } from './served.ts'

export function jwtContract(deploy: Deploy): void {
  describe('tokens of an identity provider', () => {
    let issuer: Issuer
    const server = served<Deployment>(async () => {
      issuer = await startIssuer()
      return deploy(issuer.url)
    })
    afterAll(() => issuer?.stop())
    const ask = async (token: string) => {
      const init = jsonRequest({ input: 'Hello' }, { authorization: `Bearer ${token}` })
      const response = await fetch(`${server().url}/api/agents/says/run`, init)
      const { text, code } = await response.json()
      return `${response.status} ${text ?? code}`
    }

    it('are good, and requests at once share one fetch of the keys', async () => {
      const token = await issuer.issue()
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(token)))
      expect(new Set(answers)).toEqual(new Set(['200 Hello by ada']))
      expect(issuer.keysFetched()).toBe(1)
    })

    it('of a new key are good, and unknown names are asked for once', async () => {
      await issuer.rotate()
      const before = issuer.keysFetched()
      expect(await ask(await issuer.sign())).toBe('200 Hello by ada')
      const forger = await newPair()
      const forged = await Promise.all(
        Array.from({ length: 20 }, (_, at) => issuer.sign({}, { kid: `unknown-${at}` }, forger)),
      )
      expect(new Set(await Promise.all(forged.map(ask)))).toEqual(new Set(['401 unauthorized']))
      expect(issuer.keysFetched() - before).toBeLessThanOrEqual(1)
    })

    it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('are refused if a forger signs them with %s', async alg => {
      const forger = await newPair(alg)
      const { kid } = issuer.pair.jwk
      expect(await ask(await issuer.sign({}, { kid }, forger))).toBe('401 unauthorized')
    })

    it('are refused if they are for others or too old', async () => {
      const old = Math.floor(Date.now() / 1000) - 60
      for (const claims of [{ aud: 'https://other.example.com' }, { exp: old }])
        expect(await ask(await issuer.sign(claims))).toBe('401 unauthorized')
    })

    it('let users of the console in, in requests of its pages', async () => {
      const at = (path: string, headers = {}) =>
        fetch(`${server().url}/api/console/${path}`, { headers, redirect: 'manual' })
      const begun = await at('login')
      const to = new URL(begun.headers.get('location') ?? '').searchParams
      const cookiesOf = ({ headers }: Response) => headers.getSetCookie().map(each => each.replace(/;.*/, ''))
      const nonce = to.get('nonce')
      issuer.answer('/token', { id_token: await issuer.sign({ aud: 'console', nonce }) })
      const done = await at(`callback?code=x&state=${to.get('state')}`, { cookie: cookiesOf(begun).join() })
      expect(done.headers.get('location')).toBe(`${server().url}/api/console`)
      const cookie = cookiesOf(done).join('; ')
      const config = await at('config', { cookie, origin: server().url })
      expect(await config.json()).toMatchObject({ identity: { id: 'ada' }, isLoggedIn: true })
      for (const headers of [{ cookie }, { cookie, origin: 'https://evil.example' }])
        expect((await at('config', headers)).status).toBe(401)
    })

    it('open sockets', async () => {
      const socket = stock(server, { auth: { token: await issuer.sign() } })
      await connected(socket)
      await start(clientOf(socket), 'agent.run', { name: 'says', input: 'Hello' })
      const refused = stock(server, { auth: { token: 'x' }, reconnection: false })
      expect(await refusal(refused)).toMatchObject({ data: { code: 'unauthorized' } })
    })

    it('stay good while the provider is away', async () => {
      const token = await issuer.sign()
      await issuer.stop()
      expect(await ask(token)).toBe('200 Hello by ada')
    })
  })
}
