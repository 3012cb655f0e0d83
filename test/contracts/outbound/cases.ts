/** What is sent to addresses that others give, and what comes back: by a client that takes addresses, and by `fetch`. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { served } from '../served.ts'
import { startByteServer } from './receiver.ts'
import type { Asked, Outcome } from './service.ts'

/** Sends a request in a service. */
export type Ask = (asked: Asked) => Promise<Outcome>

const head = (...fields: readonly string[]) =>
  `HTTP/1.1 200 OK\r\n${fields.map(each => `${each}\r\n`).join('')}\r\n`
const codings = (count: number) => `content-encoding: ${Array(count).fill('gzip').join(', ')}`
const say = (text: string) => (socket: Socket) => socket.end(text, 'latin1')
const OK = say(`${head('content-length: 2')}ok`)

/** Answers after which the service must be there: heads, as far as they come, and what the connection does then. */
const HOSTILE: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'too many codings, and closes': say(head(codings(7), 'content-length: 9')),
  'too many codings, and half the body': say(`${head(codings(7), 'content-length: 9')}half`),
  'too many codings in chunks': say(head(codings(7), 'transfer-encoding: chunked')),
  'too many codings, and resets': socket =>
    socket.write(head(codings(7), 'content-length: 9'), () => socket.resetAndDestroy()),
  'too many codings, and is silent': socket => socket.write(head(codings(7), 'content-length: 9')),
  'a thousand codings': say(head(codings(1000))),
  'a coding that is none': say(`${head(codings(1), 'content-length: 4')}text`),
  'an unknown coding': say(`${head('content-encoding: x', 'content-length: 4')}text`),
  nothing: socket => socket.end(),
  'a reset': socket => socket.resetAndDestroy(),
  'half a head': say('HTTP/1.1 200 OK\r\nx: '),
  'another protocol': say('SSH-2.0-OpenSSH_9.2p1\r\n'),
  'a status of 0': say('HTTP/1.1 000 No\r\n\r\n'),
  'a status of 999': say('HTTP/1.1 999 No\r\n\r\n'),
  'a switch of protocols': say(
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nx',
  ),
  'a zero in a header': say(head('x: a\u0000b')),
  'a zero in the status': say('HTTP/1.1 200 O\u0000K\r\ncontent-length: 0\r\n\r\n'),
  'a huge header': say(head(`x: ${'x'.repeat(1_000_000)}`)),
  'many headers': say(head(...Array.from({ length: 20_000 }, (_, at) => `x${at}: y`))),
  'two lengths': say(`${head('content-length: 1', 'content-length: 2')}ab`),
  'a negative length': say(head('content-length: -1')),
  'a length and chunks': say(`${head('content-length: 1', 'transfer-encoding: chunked')}0\r\n\r\n`),
  'half a body': say(`${head('content-length: 50')}half`),
  'half of its chunks': say(`${head('transfer-encoding: chunked')}5\r\nhello\r\n`),
  'a chunk of no length': say(`${head('transfer-encoding: chunked')}5\r\nhello\r\nzz\r\n`),
  'a reset amid its body': socket =>
    socket.write(`${head('content-length: 50')}half`, () => socket.resetAndDestroy()),
  'more than its body': say(`${head('content-length: 2')}okHTTP/1.1 200 OK\r\n\r\nmore`),
  'a body after 204': say('HTTP/1.1 204 No\r\ncontent-length: 2\r\n\r\nhi'),
  'a body after 205': say('HTTP/1.1 205 No\r\ncontent-length: 2\r\n\r\nhi'),
  'a body after 304': say('HTTP/1.1 304 No\r\ncontent-length: 2\r\n\r\nhi'),
}

/** The service outlives whatever comes. */
export function survivingCases(ask: Ask): void {
  const server = served(() => startByteServer())

  describe('outlives', () => {
    it.each(Object.entries(HOSTILE))('%s', async (_, answer) => {
      const { url } = server().at(answer)
      // One of them ends with the limit of its time.
      await Promise.all([
        ask({ url, body: 'x', timeoutMs: 500 }),
        ask({ url, body: 'x', timeoutMs: 500, read: 'cancel' }),
        ask({ url, method: 'GET', timeoutMs: 500 }),
      ])
      expect(await ask({ url: server().at(OK).url, body: 'x' })).toMatchObject({ status: 200, text: 'ok' })
    })
  })

  it('follows no redirect', async () => {
    const { url } = server().at(say('HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-length: 0\r\n\r\n'))
    const { status, headers } = await ask({ url, body: 'x' })
    expect(status).toBe(302)
    expect(headers).toContainEqual(['location', '/there'])
  })

  it('refuses an address that is not allowed', async () => {
    const { url, requests } = server().at(OK)
    const { error, looked } = await ask({ url, allow: [] })
    expect([error?.code, looked]).toEqual(['address_refused', 0])
    expect(requests).toEqual([])
  })

  const half = `${head('content-length: 50')}half`
  it.each([
    ['head', '', {}],
    ['body', half, {}],
    ['body whose answer has left the memory', half, { read: 'collected' }],
  ] as const)('gives up a %s that does not come, and closes the connection', async (_, text, how) => {
    const { url, sockets } = server().at(socket => text && socket.write(text))
    expect((await ask({ url, body: 'x', timeoutMs: 300, ...how })).error?.name).toBe('TimeoutError')
    await eventually(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]))
  })
}

/** What holds where the runtime has a client that takes addresses. */
export function clientCases(ask: Ask): void {
  const server = served(() => startByteServer())
  const named = (url: string, name = 'rebound.example') => url.replace('127.0.0.1', name)

  it('sends what it is given, and nothing of the connection that it is given', async () => {
    const { url, requests } = server().at(OK)
    const headers = {
      ...{ 'x-own': 'ä', 'content-length': '1', 'transfer-encoding': 'chunked', connection: 'upgrade' },
      ...{ upgrade: 'websocket', expect: '100-continue', 'accept-encoding': 'br', te: 'trailers' },
      'content-type': 'text/plain',
    }
    expect(await ask({ url, headers, body: 'häl' })).toMatchObject({
      status: 200,
      statusText: 'OK',
      text: 'ok',
    })
    const [request = ''] = requests
    const [first, ...lines] = request.split('\r\n')
    expect(first).toBe(`POST ${new URL(url).pathname} HTTP/1.1`)
    expect(lines.map(line => line.toLowerCase()).toSorted()).toEqual(
      [
        '',
        'accept-encoding: identity',
        'accept: */*',
        'connection: close',
        'content-length: 4',
        'content-type: text/plain',
        'h\u00c3\u00a4l'.toLowerCase(),
        `host: ${new URL(url).host}`,
        'user-agent: servable',
        'x-own: ä',
      ].toSorted(),
    )
  })

  it('gives headers that come several times', async () => {
    const { url } = server().at(
      say(`${head('x-a: 1', 'X-A: 2', 'set-cookie: a', 'set-cookie: b', 'content-length: 0')}`),
    )
    const { headers } = await ask({ url, method: 'GET' })
    expect(headers).toEqual(
      expect.arrayContaining([
        ['x-a', '1, 2'],
        ['set-cookie', 'a'],
        ['set-cookie', 'b'],
      ]),
    )
  })

  it('reads past what comes before the answer', async () => {
    const early = 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\n'.repeat(3)
    const { url } = server().at(say(`${early}${head('content-length: 2')}ok`))
    expect(await ask({ url, body: 'x' })).toMatchObject({ status: 200, text: 'ok' })
  })

  it.each([204, 205, 304])('gives no body with a status of %d', async status => {
    const { url } = server().at(say(`HTTP/1.1 ${status} No\r\netag: x\r\n\r\n`))
    expect(await ask({ url, body: 'x' })).toMatchObject({ status, text: '' })
  })

  it('gives no body of HEAD', async () => {
    const { url } = server().at(say(head('content-length: 2')))
    expect(await ask({ url, method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })

  it('fails to read a body that is encoded, with a code, and closes the connection', async () => {
    const { url, sockets } = server().at(socket =>
      socket.write(`${head(codings(1), 'content-length: 100')}x`),
    )
    const { status, error } = await ask({ url, body: 'x' })
    expect([status, error?.code]).toEqual([200, 'tool_server_failed'])
    expect(error?.message).toContain('`gzip`')
    await eventually(() => expect(sockets[0]?.destroyed).toBe(true))
    const { url: plain } = server().at(say(`${head('content-encoding: identity', 'content-length: 2')}ok`))
    expect(await ask({ url: plain, body: 'x' })).toMatchObject({ text: 'ok' })
  })

  it('reads all of a body whose connection is closed before it is read', async () => {
    const text = 'x'.repeat(50_000)
    const all = `${head(`content-length: ${text.length}`)}${text}`
    const { url, sockets } = server().at(say(all))
    const gate = server().at(async socket => {
      await eventually(() => expect(sockets[0]?.destroyed).toBe(true))
      OK(socket)
    })
    expect((await ask({ url, body: 'x', read: 'first', goOn: gate.url })).text).toBe(text)
    const { url: open } = server().at(say(`${head()}${text}`))
    expect((await ask({ url: open, body: 'x' })).text).toBe(text)
  })

  it('reads no faster than its reader, and closes the connection of a body that is cancelled', async () => {
    const more = (socket: Socket) => {
      while (socket.writable && socket.write('x'.repeat(65_536)));
    }
    const endless = (socket: Socket) => {
      socket.on('drain', () => more(socket)).write(head())
      more(socket)
    }
    const { url, sockets } = server().at(endless)
    const gate = server().at(async socket => {
      // As soon as no more is taken, the buffers are full.
      let last = -1
      await eventually(() => {
        const [before, now] = [last, sockets[0]!.bytesWritten]
        last = now
        expect(now).toBe(before)
      })
      expect(last).toBeLessThan(50_000_000)
      sockets[0]!.resetAndDestroy()
      OK(socket)
    })
    const outcome = await ask({ url, body: 'x', read: 'first', goOn: gate.url })
    expect(outcome.error?.message).toMatch(/\w/)
    const { url: again, sockets: others } = server().at(endless)
    expect(await ask({ url: again, body: 'x', read: 'cancel' })).toMatchObject({ status: 200 })
    await eventually(() => expect(others[0]?.destroyed).toBe(true))
  })

  it('takes an answer that comes before the request has gone', async () => {
    const { url } = server().at(socket => {
      socket.pause()
      socket.write(`HTTP/1.1 413 Large\r\ncontent-length: 2\r\n\r\nno`)
    })
    const body = 'x'.repeat(5_000_000)
    expect(await ask({ url, body, timeoutMs: 5000 })).toMatchObject({ status: 413, text: 'no' })
  })

  it('goes to an address that was checked, whatever the name has become', async () => {
    const { url, requests } = server().at(OK)
    const lookups = [['127.0.0.1'], ['10.0.0.1']]
    expect(await ask({ url: named(url), lookups })).toMatchObject({ status: 200, text: 'ok', looked: 1 })
    expect(requests[0]).toMatch(new RegExp(`^host: rebound\\.example:${server().port}\r$`, 'im'))
    const mixed = await ask({ url: named(url), lookups: [['127.0.0.1', '10.0.0.1']] })
    expect(mixed.error?.code).toBe('address_refused')
    expect(requests).toHaveLength(1)
  })

  it('goes to the next address where nobody listens at the first', async () => {
    const { url } = server().at(OK)
    for (const addresses of [
      ['127.0.0.9', '::1', '127.0.0.1'],
      ['127.0.0.9', '127.0.0.1'],
    ])
      expect(await ask({ url: named(url), lookups: [addresses] })).toMatchObject({ status: 200 })
    expect((await ask({ url: named(url), lookups: [['127.0.0.9']] })).error?.name).toBe('Error')
  })
}
