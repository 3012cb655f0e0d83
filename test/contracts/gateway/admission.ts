/** Authentication of clients that connect. */
import { describe, expect, it } from 'vitest'
import { own } from '../runs/client.ts'
import { secret } from '../secrets.ts'
import {
  clientOf,
  connected,
  type Options,
  plain,
  play,
  refusal,
  type Server,
  start,
  stock,
  WAYS,
} from './client.ts'

const at: Options = { path: '/guarded/' }

/** The cases with the gateway's own `authenticate`. */
export function guardedCases(server: Server): void {
  describe.each(WAYS)('a stock client %s', (_, way) => {
    const open = (auth?: object, options: Options = {}) =>
      stock(server, { ...at, ...way, ...options, ...(auth && { auth }) }, '/inner')

    it.each([
      ['nothing', {}, 'Not authorized', 'unauthorized'],
      ['a response as a problem', { token: 'problem' }, 'The token is old', 'unauthorized'],
      ['a response as text', { token: 'text' }, 'No entry', 'unauthorized'],
      ['an error for the caller', { token: 'says' }, 'Your plan has no sockets', 'forbidden'],
      ['an error of its own', { token: 'throws' }, 'Internal server error', 'internal_error'],
      ['a key that is none', { user: 'ann', apiKey: 7 }, expect.stringContaining('apiKey'), 'invalid_body'],
    ])('is refused by %s', async (_what, auth, message, code) => {
      const socket = open(auth)
      expect(await refusal(socket)).toEqual({ message, data: { code } })
      expect(socket.connected).toBe(false)
    })

    it('is told no credential, and nor is the log, where `authenticate` throws them', async () => {
      const auth = { token: 'throws', apiKey: secret('hand') }
      const extraHeaders = { authorization: `Bearer ${secret('bearer')}`, cookie: `s=${secret('cookie')}` }
      const refused = await refusal(open(auth, { extraHeaders }))
      expect(JSON.stringify(refused)).not.toContain('sk-canary')
      expect(server().log()).not.toContain('sk-canary')
    })

    it('owns what it starts', async () => {
      const [ann, bob] = [own('ann'), own('bob')]
      const client = clientOf(open({ user: ann }))
      const told = await play(client, 'agent.run', { name: 'told', input: 'x', userId: 'someone' })
      expect(told.at(-1)?.data.structured).toMatchObject({ userId: ann })
      const runId = await start(client, 'agent.run', { name: 'echo', input: 'x', background: true })
      const other = clientOf(open({ user: bob }))
      expect(await other.ask('run.cancel', { runId })).toMatchObject({ code: 'run_not_found' })
    })

    it('is known by a header too', async () => {
      const headers = { authorization: 'Bearer good' }
      const socket = open(undefined, { extraHeaders: headers })
      const told = await play(clientOf(socket), 'agent.run', { name: 'told', input: 'x' })
      expect(told.at(-1)?.data.structured).toMatchObject({ userId: 'bearer of "/inner"' })
    })

    it('may try again', async () => {
      const socket = open({ token: 'problem' })
      await refusal(socket)
      socket.auth = { user: 'ann' }
      socket.connect()
      await connected(socket)
    })
  })

  it('refuses a plain WebSocket, and closes it', async () => {
    const client = await plain(server, { path: '/guarded/', connect: { token: 'problem' } })
    expect(await client.closed).toBe(1008)
    expect(client.frames).toEqual([
      { event: 'connect_error', data: { message: 'The token is old', data: { code: 'unauthorized' } } },
    ])
  })

  it('takes a plain WebSocket whose header says who it is', async () => {
    const client = await plain(server, { path: '/guarded/', headers: { authorization: 'Bearer good' } })
    const told = await play(client, 'agent.run', { name: 'told', input: 'x' })
    expect(told.at(-1)?.data.structured).toMatchObject({ userId: 'bearer of ""' })
  })

  it('knows the namespace by its own name alone', async () => {
    expect(await refusal(stock(server, { ...at, auth: { user: 'ann' } }, '/service'))).toEqual({
      message: 'Invalid namespace',
    })
  })

  describe('an origin', () => {
    const ask = (origin: string | undefined) =>
      fetch(`${server().url}/guarded/?EIO=4&transport=polling`, {
        headers: origin === undefined ? {} : { origin },
      })

    it('that is listed may connect, and its page may read the answer', async () => {
      const response = await ask('https://app.example')
      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    })

    it('that is the own one may, and whoever has none', async () => {
      expect((await ask(server().url)).status).toBe(200)
      expect((await ask(undefined)).status).toBe(200)
    })

    it.each(['https://other.example', 'https://app.example.evil', 'null', 'nonsense'])(
      'such as %s may not',
      async origin => {
        const response = await ask(origin)
        expect(response.status).toBe(403)
        expect(await response.json()).toMatchObject({ code: 'cross_site_request' })
        const headers = { origin }
        await expect(plain(server, { path: '/guarded/', headers })).rejects.toThrow('status 403')
      },
    )

    it('is asked for by a preflight', async () => {
      const response = await fetch(`${server().url}/guarded/`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
      })
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    })
  })
}

/** The cases in which only the middleware decides. */
export function middlewareCases(server: Server): void {
  describe('middleware', () => {
    it('says who it is that connects', async () => {
      const ann = own('ann')
      const socket = stock(server, { extraHeaders: { 'x-test-user': ann } })
      const told = await play(clientOf(socket), 'agent.run', { name: 'told', input: 'x' })
      expect(told.at(-1)?.data.structured).toMatchObject({ userId: ann })
    })

    it.each(WAYS)('refuses a stock client %s', async (_, way) => {
      await refusal(stock(server, { ...way, query: { refuse: 'yes' } }))
    })

    it('refuses a plain WebSocket', async () => {
      await expect(plain(server, { path: '/socket.io/?refuse=yes' })).rejects.toThrow('status 401')
    })

    it('keeps a session to the one who opened it', async () => {
      const url = `${server().url}/socket.io/?EIO=4&transport=polling`
      const opened = await fetch(url, { headers: { 'x-test-user': own('ann') } })
      const { sid } = JSON.parse((await opened.text()).slice(1))
      const others = await fetch(`${url}&sid=${sid}`, { headers: { 'x-test-user': own('bob') } })
      expect([others.status, await others.json()]).toEqual([400, { code: 1, message: 'Session ID unknown' }])
    })
  })

  it('answers no other method, and nothing beside its path', async () => {
    const put = await fetch(`${server().url}/socket.io/`, { method: 'PUT' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST'])
    expect((await fetch(`${server().url}/socket.io/`)).status).toBe(400)
  })

  it('has the default origins of `cors`', async () => {
    const ask = (origin: string) =>
      fetch(`${server().url}/socket.io/?EIO=4&transport=polling`, { headers: { origin } })
    expect((await ask('https://other.example')).status).toBe(200)
    expect((await ask('https://app.example')).status).toBe(403)
  })

  it('tells no more of a session that is not there', async () => {
    for (const sid of ['nobody', '0.nobody', '9999.nobody', crypto.randomUUID()]) {
      const response = await fetch(`${server().url}/socket.io/?EIO=4&transport=polling&sid=${sid}`)
      expect(await response.json()).toEqual({ code: 1, message: 'Session ID unknown' })
    }
  })
}

/** The cases with a namespace and events of its own. */
export function scopedCases(server: Server): void {
  it('offers what it was given, and nothing else', async () => {
    const client = clientOf(stock(server, { auth: { token: 'token-of-ann' } }))
    expect((await play(client, 'agent.run', { name: 'only', input: 'x' })).at(-1)?.data.output).toEqual({
      text: 'alone',
    })
    expect(await client.ask('agent.run', { name: 'echo', input: 'x' })).toMatchObject({
      code: 'agent_not_found',
    })
  })
}
