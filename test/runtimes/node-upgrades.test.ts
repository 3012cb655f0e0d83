import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Platform, RawSocketHandlers } from '../../src/http/platform.ts'
import { type Fetch, type RunningServer, serve } from '../../src/runtimes/node.ts'
import { sseReply, toResponse } from '../../src/web/reply.ts'
import { type PulledSource, pulled } from '../../src/web/sse.ts'
import { eventually } from '../eventually.ts'
import { never } from '../support.ts'

let server: RunningServer | undefined
const clients: Client[] = []
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await server?.close()
  server = undefined
})

interface Client {
  readonly socket: Socket
  /** What the server has sent. */
  text(): string
}

/** Asks for a WebSocket, by hand. The request may have another first line, and bytes may follow it. */
function ask({ line = 'GET / HTTP/1.1', after = '' } = {}): Client {
  const { hostname, port } = new URL(server!.url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
  const fields = ['host: localhost', 'connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
  const key = `sec-websocket-key: ${btoa('sixteen bytes 16')}`
  const end = after.startsWith('content-length') ? '\r\n' : '\r\n\r\n'
  socket.write(`${[line, ...fields, key].join('\r\n')}${end}${after}`, 'latin1')
  const client = { socket, text: () => Buffer.concat(chunks).toString('latin1') }
  clients.push(client)
  return client
}

const serving = async (handler: Fetch) => {
  server = await serve(handler, { port: 0 })
}

const streaming = (source: PulledSource) => serving(() => toResponse(sseReply(pulled(source))))

/** The whole answer, once the server has closed the connection. */
async function answered(client: Client): Promise<string> {
  await new Promise(resolve => client.socket.once('close', resolve))
  return client.text()
}

describe('a request on Node that asks for a WebSocket and gets an answer', () => {
  it('streams, and ends the connection after it', async () => {
    const waiting: ((message: string | undefined) => void)[] = []
    const next = () => new Promise<string | undefined>(resolve => waiting.push(resolve))
    await streaming({ next, cancel() {} })
    const client = ask()
    await eventually(() => expect(client.text()).toContain(': open\n\n'))
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 /)
    expect(client.text()).toMatch(/\r\nconnection: close\r\n/i)
    expect(client.text()).toMatch(/\r\ntransfer-encoding: chunked\r\n/i)
    waiting.shift()?.('data: 1\n\n')
    await eventually(() => expect(client.text()).toContain('data: 1\n\n'))
    await eventually(() => expect(waiting).toHaveLength(1))
    waiting.shift()?.(undefined)
    expect(await answered(client)).toMatch(/\r\n0\r\n\r\n$/)
  })

  it('leaves its source when the client leaves', async () => {
    const source = { next: never, cancel: vi.fn() }
    await streaming(source)
    const leaving = [...Array(20)].map(() => ask())
    await eventually(() => expect(leaving.every(client => client.text().includes(': open'))).toBe(true))
    expect(source.cancel).not.toHaveBeenCalled()
    for (const { socket } of leaving.slice(0, 10)) socket.destroy()
    for (const { socket } of leaving.slice(10)) socket.end()
    await eventually(() => expect(source.cancel).toHaveBeenCalledTimes(20))
  })

  it('leaves its source when the server closes', async () => {
    const source = { next: never, cancel: vi.fn() }
    await streaming(source)
    const client = ask()
    await eventually(() => expect(client.text()).toContain(': open'))
    const closed = once(client.socket, 'close')
    await server?.close()
    await closed
    await eventually(() => expect(source.cancel).toHaveBeenCalledTimes(1))
  })

  it('reads its source no further than a slow reader takes, and goes on when it takes more', async () => {
    const next = vi.fn(async () => `data: ${'x'.repeat(1000)}\n\n`)
    const source = { next, cancel: vi.fn() }
    await streaming(source)
    const { socket } = ask()
    socket.pause()
    let asked = -1
    await eventually(() => {
      const before = asked
      asked = next.mock.calls.length
      expect(asked).toBe(before)
      expect(asked).toBeGreaterThan(0)
    })
    socket.resume()
    await eventually(() => expect(next.mock.calls.length).toBeGreaterThan(asked * 2))
    socket.destroy()
    await eventually(() => expect(source.cancel).toHaveBeenCalled())
  })

  it.each([
    ['at once', ''],
    ['after more bytes', 'GET / HTTP/1.1\r\n\r\n'],
  ])('stops a request whose client leaves before the answer: %s', async (_, after) => {
    let signal: AbortSignal | undefined
    await serving(request => {
      signal = request.signal
      return never()
    })
    const { socket } = ask({ after })
    await eventually(() => expect(signal).toBeDefined())
    expect(signal?.aborted).toBe(false)
    socket.end()
    await eventually(() => expect(signal?.aborted).toBe(true))
  })

  it('leaves its source when the client has left before it', async () => {
    const source = { next: never, cancel: vi.fn() }
    let signal: AbortSignal | undefined
    await serving(async request => {
      signal = request.signal
      await eventually(() => expect(signal?.aborted).toBe(true))
      return toResponse(sseReply(pulled(source)))
    })
    const { socket } = ask()
    await eventually(() => expect(signal).toBeDefined())
    socket.destroy()
    await eventually(() => expect(source.cancel).toHaveBeenCalledTimes(1))
  })

  it('is cut off where its source fails', async () => {
    const failing = vi.fn<() => Promise<string>>()
    failing.mockResolvedValueOnce('data: 0\n\n').mockImplementation(async () => {
      await eventually(() => expect(client.text()).toContain('data: 0'))
      throw new Error('a source that fails')
    })
    await serving(
      () =>
        new Response(
          new ReadableStream({
            pull: async controller => controller.enqueue(new TextEncoder().encode(await failing())),
          }),
        ),
    )
    const client = ask()
    const text = await answered(client)
    expect(text).toContain('data: 0')
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it.each([
    ['HTTP/1.1', /\r\ncontent-length: 5\r\n[\s\S]*\r\n\r\nhello$/i],
    ['HTTP/1.0', /\r\n\r\nhello$/],
  ])('has its length in %s', async (version, expected) => {
    await serving(() => new Response('hello', { status: 404, headers: { 'content-length': '5' } }))
    const text = await answered(ask({ line: `GET / ${version}` }))
    expect(text).toMatch(expected)
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
    expect(text).not.toMatch(/chunked/i)
  })

  it('has no body where its status has none', async () => {
    await serving(() => new Response(null, { status: 204 }))
    expect(await answered(ask())).toMatch(/^HTTP\/1\.1 204 \r\n[\s\S]*\r\n\r\n$/)
  })

  it.each([
    ['HEAD', ''],
    ['POST', 'content-length: 4\r\n\r\nbody'],
  ])('is an ordinary one by %s, whose connection stays open', async (method, after) => {
    await serving(async request => new Response(`${request.method} ${await request.text()}.`))
    const client = ask({ line: `${method} / HTTP/1.1`, after })
    await eventually(() => expect(client.text()).toMatch(method === 'HEAD' ? /\r\n\r\n$/ : /POST body\./))
    client.socket.write('PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
    await eventually(() => expect(client.text()).toContain('PUT .'))
  })

  it('ends the connection of a client that sends much before the answer', async () => {
    await serving(() => never())
    const { socket } = ask({ after: 'x'.repeat(1_000_000) })
    await new Promise(resolve => socket.once('close', resolve))
  })
})

describe('a WebSocket on Node', () => {
  it('gets what its client sent before it was open', async () => {
    const messages: string[] = []
    const handlers: RawSocketHandlers = {
      open() {},
      message: (_, data) => messages.push(String(data)),
      close() {},
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    await serving(async (_, platform) => {
      await promise
      return (platform as Platform).upgrade!(handlers)!
    })
    const frame = (text: string) => `\x81\x82\0\0\0\0${text}`
    const { socket } = ask({ after: frame('in') })
    await once(socket, 'connect')
    socket.write(frame('on'), 'latin1', () => resolve())
    await eventually(() => expect(messages).toEqual(['in', 'on']))
  })
})
