import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { errorOf, expectGone, openPolling, openWire, type Polled, type Server, stubborn } from './client.ts'
import { MAX_PAYLOAD } from './service.ts'

/** Messages over polling (Engine.IO, "HTTP long-polling"). */
export function pollingCases(server: Server): void {
  const open = () => openPolling(server, 'engine.io')

  it.each([
    ['one packet of text', '4hello'],
    ['several packets', '4test1\x1e4test2\x1e4test3'],
    ['text and bytes', '4hello\x1ebAQIDBA=='],
    ['characters of all planes', '4é€😀'],
    ['an empty message', '4'],
  ])('takes %s and gives it back', async (_, payload) => {
    const session = await open()
    const response = await session.post(payload)
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
    expect(await session.read()).toBe(payload)
  })

  it('answers a `GET` when there is something, with all of it', async () => {
    const session = await open()
    const waiting = session.read()
    await session.post('4a\x1e4b')
    expect(await waiting).toBe('4a\x1e4b')
  })

  it.each(['abc', '', '7', '4a\x1e', '0', '2', '5', 'b%%%'])('ends with the payload `%s`', async payload => {
    const session = await open()
    expect((await session.post(payload)).status).toBe(400)
    await expectGone(session)
  })

  it('ends with two `GET`s at once', async () => {
    const session = await open()
    const answers = await Promise.all([session.get(), session.get()])
    const texts = await Promise.all(answers.map(async answer => [answer.status, await answer.text()]))
    expect(texts).toContainEqual([200, '1'])
    expect(texts).toContainEqual([400, expect.stringContaining('"code":3')])
    await expectGone(session)
  })

  it('ends with two `POST`s at once', async () => {
    const session = await open()
    const slow = postSlowly(session)
    await slow.begun
    // The first request is still running on the server when this one is refused.
    while ((await session.post('4x')).status === 200) {}
    slow.abandon()
    await expectGone(session)
  })

  it('ends with a `GET` that its client gives up', async () => {
    const session = await open()
    const controller = new AbortController()
    const waiting = fetch(session.url, { signal: controller.signal })
      .then(response => response.text())
      .catch(() => 'given up')
    // The server must have the first request before. A second one then ends the session.
    await session.post('6')
    controller.abort()
    expect(await waiting).toBe('given up')
    await expectGone(session)
  })

  it('answers 413 to what is too large, and ends', async () => {
    const session = await open()
    const response = await session.post(`4${'x'.repeat(MAX_PAYLOAD)}`).catch(() => undefined)
    // A server may close the connection while the client still sends.
    if (response !== undefined) expect(response.status).toBe(413)
    await expectGone(session)
  })

  it('counts bytes, and not characters', async () => {
    const [session, other] = [await open(), await open()]
    const payload = `4${'€'.repeat((MAX_PAYLOAD - 1) / 3)}`
    expect((await session.post(payload)).status).toBe(200)
    expect(await session.read()).toBe(payload)
    const response = await other.post(`${payload}x`).catch(() => undefined)
    if (response !== undefined) expect(response.status).toBe(413)
    await expectGone(other)
  })

  it('takes as much as it said', async () => {
    const session = await open()
    const payload = `4${'x'.repeat(MAX_PAYLOAD - 1)}`
    expect((await session.post(payload)).status).toBe(200)
    expect(await session.read()).toBe(payload)
  })

  describe('closing', () => {
    it('by the client ends its poll with `noop`', async () => {
      const session = await open()
      const waiting = session.read()
      await session.post('6')
      expect((await session.post('1')).status).toBe(200)
      expect(await waiting).toBe('6')
      await expectGone(session)
    })

    it('by the server ends its poll with `close`', async () => {
      const session = await open()
      const waiting = session.read()
      await session.post('4close')
      expect(await waiting).toBe('1')
      await expectGone(session)
    })
  })
}

/** A `POST` whose body never ends. */
function postSlowly({ url }: Polled): { begun: Promise<void>; abandon(): void } {
  const { hostname, port, pathname, search } = new URL(url)
  const begun = Promise.withResolvers<void>()
  const socket = connect(Number(port), hostname, () => {
    const head = [
      `POST ${pathname}${search} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      'content-length: 1000',
      '',
      '4x',
    ]
    socket.write(head.join('\r\n'), () => begun.resolve())
  })
  socket.on('error', () => {})
  return { begun: begun.promise, abandon: () => socket.destroy() }
}

/** Messages over WebSocket (Engine.IO, "WebSocket"). */
export function socketCases(server: Server): void {
  const open = () => openWire(server, 'engine.io')

  it('takes text and gives it back', async () => {
    const client = await open()
    client.send('4é€😀')
    expect(await client.next()).toBe('4é€😀')
    client.close()
  })

  it('takes bytes as they are and gives them back', async () => {
    const client = await open()
    client.send(new Uint8Array([1, 2, 3, 4]))
    expect(await client.next()).toEqual([1, 2, 3, 4])
    client.send(new Uint8Array())
    expect(await client.next()).toEqual([])
    client.close()
  })

  it.each([124, 125, 126, 65_534, 65_535, 65_536])('takes messages of %i bytes', async length => {
    const client = await open()
    const frame = `4${'x'.repeat(length - 1)}`
    client.send(frame)
    expect(await client.next()).toBe(frame)
    const bytes = new Uint8Array(length).fill(length % 256)
    client.send(bytes)
    expect(await client.next()).toEqual([...bytes])
    client.close()
  })

  it('keeps the order of many messages', async () => {
    const client = await open()
    const sent = Array.from({ length: 500 }, (_, i) => (i % 7 === 0 ? new Uint8Array([i % 256]) : `4${i}`))
    for (const frame of sent) client.send(frame)
    for (const frame of sent)
      expect(await client.next()).toEqual(typeof frame === 'string' ? frame : [...frame])
    client.close()
  })

  it.each(['abc', '', '7', '0', '2', '5'])('closes upon the frame `%s`', async frame => {
    const client = await open()
    client.send(frame)
    expect(await client.closed).toBeGreaterThan(0)
  })

  it('closes upon a message that is too large', async () => {
    const client = await open()
    client.send(`4${'x'.repeat(MAX_PAYLOAD)}`)
    expect(await client.closed).toBe(1009)
  })

  it('holds the place of a client that it has closed until the connection is gone', async () => {
    const clients = [1, 2].map(() => stubborn(server, '/narrow/?EIO=4&transport=websocket'))
    await eventually(() => expect(clients.every(client => client.has('"sid"'))).toBe(true))
    const status = async () => (await fetch(`${server().url}/narrow/?EIO=4&transport=polling`)).status
    for (const client of clients) client.send('4x')
    await eventually(() => expect(clients.every(client => client.has('parse error'))).toBe(true))
    for (const client of clients) client.send('4'.repeat(1000), true)
    if (['node', 'bun'].includes(server().runtime)) {
      // The server ends them by itself.
      await eventually(() => {
        for (const client of clients) client.send('4'.repeat(1000), true)
        expect(clients.every(client => client.isEnded)).toBe(true)
      })
    } else {
      expect(await status()).toBe(503)
      for (const client of clients) client.leave()
    }
    await eventually(async () => expect(await status()).toBe(200))
  })

  it('counts the bytes of a message, and not its characters', async () => {
    const client = await open()
    const frame = `4${'€'.repeat((MAX_PAYLOAD - 1) / 3)}`
    client.send(frame)
    expect(await client.next()).toBe(frame)
    client.send(`${frame}x`)
    expect(await client.closed).toBe(1009)
  })

  it('takes bytes as base64, and gives them back so to who asks for it', async () => {
    const [plain, asking] = [await open(), await openWire(server, 'engine.io', '&b64=1')]
    for (const client of [plain, asking]) client.send('bAP+A')
    expect(await plain.next()).toEqual([0, 255, 128])
    expect(await asking.next()).toBe('bAP+A')
    asking.send(new Uint8Array())
    expect(await asking.next()).toBe('b')
    plain.close()
    asking.send('b%%%')
    expect(await asking.closed).toBe(1002)
  })

  it('takes as much as it said', async () => {
    const client = await open()
    const frame = `4${'x'.repeat(MAX_PAYLOAD - 1)}`
    client.send(frame)
    expect(await client.next()).toBe(frame)
    client.close()
  })

  it('closes when the client says so, and when the server does', async () => {
    const [one, other] = [await open(), await open()]
    one.send('1')
    other.send('4close')
    expect(await one.closed).toBe(1000)
    expect(await other.closed).toBe(1000)
  })

  it('closes a client that does not read', async () => {
    const client = await open()
    client.pause()
    client.send('4flood')
    client.send('4flood')
    expect(await sidIsGone(server, client.sid)).toBe(true)
    client.close()
  })

  it('serves no polling of its session', async () => {
    const client = await open()
    const url = `${server().url}/engine.io/?EIO=4&transport=polling&sid=${client.sid}`
    expect(await errorOf(await fetch(url))).toEqual([400, 3])
    expect(await errorOf(await fetch(url, { method: 'POST', body: '4x' }))).toEqual([400, 3])
    client.send('4still here')
    expect(await client.next()).toBe('4still here')
    client.close()
  })
}

async function sidIsGone(server: Server, sid: string): Promise<boolean> {
  const url = `${server().url}/engine.io/?EIO=4&transport=polling&sid=${sid}`
  for (;;) {
    const [, code] = await errorOf(await fetch(url))
    if (code === 1) return true
  }
}
