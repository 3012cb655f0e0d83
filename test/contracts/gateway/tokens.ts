/** Built-in authentication: a token in a header, or in the handshake if a client cannot send headers. */
import { describe, expect, it } from 'vitest'
import { own } from '../runs/client.ts'
import { secret } from '../secrets.ts'
import {
  type Client,
  clientOf,
  connected,
  plain,
  play,
  refusal,
  type Server,
  stock,
  structuredOf,
  WAYS,
} from './client.ts'

const UNAUTHORIZED = { message: 'Not authorized', data: { code: 'unauthorized' } }

const userOf = async (client: Client) =>
  structuredOf(await play(client, 'agent.run', { name: 'told', input: 'x', userId: 'someone' })).userId

/** The cases with `bearerAuth` as middleware, and without the gateway's own `authenticate`. */
export function tokenCases(server: Server): void {
  describe.each(WAYS)('a stock client %s', (_, way) => {
    it('comes in with `auth.token`, as whom it stands for', async () => {
      const ann = own('ann')
      expect(await userOf(clientOf(stock(server, { ...way, auth: { token: `token-of-${ann}` } })))).toBe(ann)
    })

    it.each([
      ['no token', {}],
      ['a token of nobody', { token: secret('token') }],
      ['a token that is no text', { token: { length: 1 } }],
      ['a token that no header holds', { token: 'token-of-ann\r\nx-test-user: ann' }],
      ['a key of a model provider', { apiKey: 'token-of-ann' }],
    ])('is refused with %s', async (_what, auth) => {
      const socket = stock(server, { ...way, auth })
      expect(await refusal(socket)).toEqual(UNAUTHORIZED)
      expect(socket.connected).toBe(false)
      expect(server().log()).not.toContain('sk-canary')
    })

    it('is refused by what goes by the identity, as over HTTP', async () => {
      const socket = stock(server, { ...way, auth: { token: 'token-of-banned-bob' } })
      expect(await refusal(socket)).toEqual({ message: 'You are banned', data: { code: 'forbidden' } })
    })

    it('is not who other middleware takes it for', async () => {
      expect(await refusal(stock(server, { ...way, extraHeaders: { 'x-test-user': 'ann' } }))).toEqual(
        UNAUTHORIZED,
      )
    })

    it('comes in with a header too, which counts alone', async () => {
      const ann = own('ann')
      const headers = (token: string) => ({ extraHeaders: { authorization: `Bearer ${token}` } })
      expect(await userOf(clientOf(stock(server, { ...way, ...headers(`token-of-${ann}`) })))).toBe(ann)
      const wrong = stock(server, { ...way, ...headers('nobody'), auth: { token: `token-of-${ann}` } })
      await refusal(wrong)
      expect(wrong.connected).toBe(false)
    })

    it('may try again with another token', async () => {
      const socket = stock(server, { ...way, auth: { token: 'nobody' } })
      await refusal(socket)
      socket.auth = { token: 'token-of-ann' }
      socket.connect()
      await connected(socket)
    })
  })

  describe('a plain WebSocket', () => {
    it('comes in with `token` in its first frame, as whom it stands for', async () => {
      const ann = own('ann')
      expect(await userOf(await plain(server, { connect: { token: `token-of-${ann}` } }))).toBe(ann)
    })

    it('comes in with a header', async () => {
      const ann = own('ann')
      expect(
        await userOf(await plain(server, { headers: { authorization: `Bearer token-of-${ann}` } })),
      ).toBe(ann)
    })

    it.each([
      ['no token', {}],
      ['a token of nobody', { token: 'nobody' }],
    ])('is refused with %s, and closed', async (_what, connect) => {
      const client = await plain(server, { connect, headers: { 'x-test-user': 'ann' } })
      expect(await client.closed).toBe(1008)
      expect(client.frames).toEqual([{ event: 'connect_error', data: UNAUTHORIZED }])
    })

    it('starts nothing before it has said who it is', async () => {
      const client = await plain(server)
      client.tell('agent.run', { name: 'told', input: 'x' })
      expect(await client.closed).toBe(1008)
      expect(client.frames).toEqual([{ event: 'connect_error', data: UNAUTHORIZED }])
    })
  })

  it('keeps a session of a header to whom it stands for', async () => {
    const url = `${server().url}/socket.io/?EIO=4&transport=polling`
    const opened = await fetch(url, { headers: { authorization: 'Bearer token-of-ann' } })
    const { sid } = JSON.parse((await opened.text()).slice(1))
    const others = await fetch(`${url}&sid=${sid}`)
    expect([others.status, await others.json()]).toEqual([400, { code: 1, message: 'Session ID unknown' }])
  })
}
