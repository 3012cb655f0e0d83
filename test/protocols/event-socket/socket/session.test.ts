import { describe, expect, it, vi } from 'vitest'
import {
  createEngine,
  createSocketServer,
  type EngineOptions,
} from '../../../../src/protocols/event-socket/socket/index.ts'
import { randomFrame, seeded } from './frames.ts'
import { serve } from './served.ts'
import { recordedSocket } from './sinks.ts'

const TIMES = { pingInterval: 1000, pingTimeout: 500, connectTimeout: 300, upgradeTimeout: 200 }

function engine(options: EngineOptions = {}) {
  const onClose = vi.fn()
  const served = serve(clock => createEngine({ ...TIMES, onClose, ...options, ...clock }))
  const reasons = () => onClose.mock.calls.map(([, reason]) => reason)
  return { ...served, reasons }
}

describe('a session', () => {
  it('pings after the interval, and goes on when the pong comes', async () => {
    const { socket, pass, reasons } = engine()
    const client = await socket()
    client.says('4hello')
    for (let beats = 0; beats < 3; beats++) {
      expect(client.sent).toHaveLength(1 + beats)
      pass(1000)
      expect(client.sent.at(-1)).toBe('2')
      client.says('3')
    }
    expect(reasons()).toEqual([])
  })

  it('ends when no pong comes', async () => {
    const { socket, pass, reasons, endpoint } = engine()
    const client = await socket()
    client.says('4hello')
    pass(1000)
    pass(499)
    expect(reasons()).toEqual([])
    pass(1)
    expect(reasons()).toEqual(['ping timeout'])
    expect(client.closed).toHaveLength(1)
    expect(endpoint.size).toBe(0)
  })

  it('gives the client its whole time where the server itself was held up', async () => {
    const { socket, pass, reasons } = engine()
    const client = await socket()
    client.says('4hello')
    pass(60_000)
    expect(client.sent.at(-1)).toBe('2')
    pass(499)
    expect(reasons()).toEqual([])
  })

  it('ends when its client says nothing within the connect timeout', async () => {
    const { socket, pass, reasons } = engine()
    const [silent, talking] = [await socket(), await socket()]
    talking.says('4x')
    pass(300)
    expect(reasons()).toEqual(['connect timeout'])
    expect(silent.closed).toEqual([{ code: 1008, reason: 'connect timeout' }])
    expect(talking.closed).toEqual([])
  })

  it('ends when more waits than it may, where the runtime says what waits', async () => {
    const { socket, reasons } = engine({
      maxBufferedBytes: 1000,
      onMessage: connection => connection.send('x'),
    })
    const client = await socket()
    client.bufferedAmount = 1000
    client.says('4a')
    expect(reasons()).toEqual([])
    client.bufferedAmount = 1100
    client.says('4a')
    expect(reasons()).toEqual(['slow reader'])
  })

  it('asks with a ping whether what it sent was read, where the runtime does not say', async () => {
    const send = 'x'.repeat(400)
    const { socket, reasons } = engine({
      maxBufferedBytes: 1000,
      onMessage: connection => connection.send(send),
    })
    const reading = await socket('', recordedSocket())
    for (let i = 0; i < 20; i++) {
      reading.says('4a')
      if (reading.sent.at(-1) === '2') reading.says('3')
    }
    expect(reasons()).toEqual([])
    const silent = await socket('', recordedSocket())
    for (let i = 0; i < 6; i++) silent.says('4a')
    expect(reasons()).toEqual(['slow reader'])
  })

  it('ends on polling when more waits than it may', async () => {
    const { poll, request, reasons } = engine({
      maxBufferedBytes: 1000,
      onMessage: connection => connection.send('x'.repeat(600)),
    })
    const sid = await poll()
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4a\x1e4b' })
    expect(reasons()).toEqual([])
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4c\x1e4d' })
    expect(reasons()).toEqual(['slow reader'])
  })

  it('lets one message through that is larger than all that may wait', async () => {
    const large = 'x'.repeat(5000)
    const { poll, request, socket, reasons } = engine({
      maxBufferedBytes: 1000,
      onMessage: connection => connection.send(large),
    })
    const sid = await poll()
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4a' })
    expect(await (await request(`&transport=polling&sid=${sid}`)).text()).toBe(`4${large}`)
    const client = await socket('', recordedSocket())
    client.says('4a')
    client.says('3')
    client.says('4b')
    expect(client.sent.filter(frame => frame === `4${large}`)).toHaveLength(2)
    expect(reasons()).toEqual([])
  })

  it.each(['0', '2', '2probe', '5', '7', 'abc', ''])('ends when its client sends `%s`', async frame => {
    const { socket, reasons } = engine()
    const client = await socket()
    client.says(frame)
    expect(reasons()).toEqual(['parse error'])
    expect(client.closed[0]?.code).toBe(1002)
  })

  it('keeps its last packets for the poll that fetches them, for a while', async () => {
    const { poll, request, reasons, pass, endpoint } = engine({
      onMessage(connection) {
        connection.send('bye')
        connection.close()
      },
    })
    const [one, other] = [await poll(), await poll()]
    for (const sid of [one, other])
      await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4a' })
    expect(reasons()).toEqual(['server close', 'server close'])
    expect(await (await request(`&transport=polling&sid=${one}`)).text()).toBe('4bye\x1e1')
    expect((await request(`&transport=polling&sid=${one}`)).status).toBe(400)
    pass(40_000)
    expect(endpoint.size).toBe(0)
  })

  it('ends when its client leaves a poll, also where something is on its way to it', async () => {
    const { poll, request, reasons } = engine({ onMessage: (connection, data) => connection.send(data) })
    const [one, other] = [await poll(), await poll()]
    const waiting = await request(`&transport=polling&sid=${one}`)
    await waiting.body?.cancel()
    const late = await request(`&transport=polling&sid=${other}`)
    await request(`&transport=polling&sid=${other}`, { method: 'POST', body: '4lost' })
    await late.body?.cancel()
    expect(reasons()).toEqual(['transport close', 'transport close'])
  })

  it('goes on when a handler throws, and tells', async () => {
    const onError = vi.fn()
    const fail = new Error('a handler that fails')
    const { socket, reasons } = engine({
      onError,
      onOpen: () => {
        throw fail
      },
      onMessage: () => {
        throw fail
      },
    })
    const client = await socket()
    client.says('4a')
    expect(onError.mock.calls).toEqual([[fail], [fail]])
    expect(reasons()).toEqual([])
  })
})

describe('an upgrade', () => {
  it('lets the poll that waits go, answers the probe, and moves what waits', async () => {
    const { poll, request, socket } = engine({ onMessage: (connection, data) => connection.send(data) })
    const sid = await poll()
    const waiting = request(`&transport=polling&sid=${sid}`)
    const client = await socket(`&sid=${sid}`)
    client.says('2probe')
    expect(await (await waiting).text()).toBe('6')
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4late' })
    expect(client.sent).toEqual(['3probe'])
    client.says('5')
    client.says('4on')
    expect(client.sent).toEqual(['3probe', '4late', '4on'])
  })

  it('holds a poll that comes after the probe, and refuses it once the session has moved', async () => {
    const { poll, request, socket } = engine()
    const sid = await poll()
    const client = await socket(`&sid=${sid}`)
    client.says('2probe')
    const late = request(`&transport=polling&sid=${sid}`)
    client.says('5')
    expect((await late).status).toBe(400)
  })

  it('ends such a poll with `noop` where the client takes its time', async () => {
    const { poll, request, socket, pass } = engine()
    const sid = await poll()
    const client = await socket(`&sid=${sid}`)
    client.says('2probe')
    const late = request(`&transport=polling&sid=${sid}`)
    pass(100)
    expect(await (await late).text()).toBe('6')
  })

  it.each([
    ['is not completed in time', []],
    ['begins with another packet', ['4hello']],
    ['is completed without a probe', ['5']],
    ['probes twice', ['2probe', '2probing']],
  ])('that %s leaves the session on polling', async (_, frames) => {
    const { poll, request, socket, pass, reasons } = engine({
      connectTimeout: 10_000,
      onMessage: (connection, data) => connection.send(data),
    })
    const sid = await poll()
    const client = await socket(`&sid=${sid}`)
    for (const frame of frames) client.says(frame)
    pass(200)
    expect(client.closed).toHaveLength(1)
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4still here' })
    expect(await (await request(`&transport=polling&sid=${sid}`)).text()).toBe('4still here')
    expect(reasons()).toEqual([])
  })

  it('ends with its session', async () => {
    const { poll, request, socket } = engine()
    const sid = await poll()
    const client = await socket(`&sid=${sid}`)
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '1' })
    expect(client.closed).toHaveLength(1)
  })
})

describe('a client without binary frames', () => {
  const bytes = new Uint8Array([0, 255, 128])
  const onMessage: EngineOptions['onMessage'] = (connection, data) => connection.send(data)

  it('gets base64 after a sleep too', async () => {
    const [first, second] = [engine({ onMessage }), engine({ onMessage })]
    const client = await first.socket('&b64=1')
    client.says(bytes)
    expect(client.sent.at(-1)).toBe('bAP+A')
    const kept = JSON.parse(JSON.stringify(client.handlers.snapshot?.()))
    const raw = recordedSocket(0)
    const handlers = second.endpoint.restore(kept, raw)
    handlers.message(raw, 'bAP+A')
    expect(raw.sent).toEqual(['bAP+A'])
  })

  it.each<[string, string, string | Uint8Array]>([
    ['that moves from polling', '&b64=1', 'bAP+A'],
    ['whose new transport has some', '&b64=', bytes],
  ])('%s gets what waited for it as it can take it', async (_, query, expected) => {
    const { poll, request, socket } = engine({ onMessage })
    const sid = await poll()
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: 'bAP+A' })
    const client = await socket(`&sid=${sid}${query}`)
    client.says('2probe')
    client.says('5')
    expect(client.sent).toEqual(['3probe', expected])
  })
})

describe('a message', () => {
  it.each([
    ['of text', `4${'x'.repeat(99)}`, 'x'],
    ['of characters of three bytes', `4${'€'.repeat(33)}`, 'x'],
    ['of characters of four', `4${'😀'.repeat(24)}xxx`, 'x'],
    ['of bytes', new Uint8Array(100), 1],
    ['of bytes as base64', `b${'A'.repeat(96)}`, 'AAAA'],
  ])('%s may have as many bytes as it may, and none more', async (_, frame, more) => {
    const onMessage = vi.fn()
    const { socket, reasons } = engine({ maxPayload: 100, onMessage })
    const client = await socket()
    client.says(frame)
    expect([onMessage.mock.calls.length, reasons()]).toEqual([1, []])
    client.says(typeof frame === 'string' ? frame + more : new Uint8Array(101))
    expect([onMessage.mock.calls.length, reasons()]).toEqual([1, ['payload too large']])
  })

  it('that a runtime itself found too large ends the session for that reason', async () => {
    const { socket, reasons } = engine()
    const client = await socket()
    client.handlers.close(client, 1009, '')
    expect(reasons()).toEqual(['payload too large'])
  })
})

describe('an engine', () => {
  it('takes no more sessions than it may, and none after its end', async () => {
    const { poll, request, endpoint, reasons } = engine({ maxSessions: 2 })
    await poll()
    await poll()
    expect((await request('&transport=polling')).status).toBe(503)
    endpoint.close()
    expect(reasons()).toEqual(['server close', 'server close'])
    expect((await request('&transport=polling')).status).toBe(503)
  })

  it('counts a WebSocket that it has closed until its connection is gone', async () => {
    const { socket, endpoint } = engine({ maxSessions: 2 })
    const [first, second] = [await socket(), await socket()]
    first.says('not a packet')
    expect(first.closed).toHaveLength(1)
    expect(endpoint.size).toBe(1)
    await expect(socket()).rejects.toThrow('refused')
    first.handlers.close(first, 1006, '')
    const third = await socket()
    await expect(socket()).rejects.toThrow('refused')
    for (const client of [second, third]) client.handlers.close(client, 1000, '')
    for (let time = 0; time < 2; time++) await socket()
    await expect(socket()).rejects.toThrow('refused')
  })

  it('counts the WebSockets that it refuses a session until they are gone', async () => {
    const { socket, poll, request } = engine({ maxSessions: 2 })
    const sid = await poll()
    const attempt = () => socket(`&sid=${sid}`)
    const aborted = await attempt()
    aborted.says('4hello')
    const good = await attempt()
    const surplus = await attempt()
    expect([aborted, good, surplus].map(({ closed }) => closed.length)).toEqual([1, 0, 1])
    await expect(attempt()).rejects.toThrow('refused')
    expect((await request('&transport=polling')).status).toBe(503)
    surplus.handlers.close(surplus, 1006, '')
    good.says('2probe')
    good.says('5')
    aborted.handlers.close(aborted, 1006, '')
    const other = await poll()
    expect((await request('&transport=polling')).status).toBe(503)
    good.handlers.close(good, 1006, '')
    expect(await poll()).not.toBe(other)
  })

  it('counts a session on polling until its last packets are taken', async () => {
    const { poll, request, endpoint } = engine({
      maxSessions: 1,
      onMessage(connection) {
        connection.send('last')
        connection.close()
      },
    })
    const sid = await poll()
    await request(`&transport=polling&sid=${sid}`, { method: 'POST', body: '4x' })
    expect((await request('&transport=polling')).status).toBe(503)
    expect(await (await request(`&transport=polling&sid=${sid}`)).text()).toBe('4last\x1e1')
    await poll()
    expect(endpoint.size).toBe(1)
  })

  it('keeps the headers of the handshake that it is told to', async () => {
    const onOpen = vi.fn()
    const { request } = engine({ onOpen, headers: ['x-key'] })
    await request('&transport=polling', { headers: { 'X-Key': 'k', 'x-other': 'o' } })
    const { handshake } = onOpen.mock.calls[0]![0]
    expect(handshake).toEqual({ url: 'http://h/io/?EIO=4&transport=polling', headers: { 'x-key': 'k' } })
  })

  it.each([
    ['a check that throws', () => Promise.reject(new Error('no'))],
    ['a check that says no', () => false],
  ])('refuses what %s does not allow', async (_, allow) => {
    const { request } = engine({ allow, onError: () => {} })
    const response = await request('&transport=polling')
    expect([response.status, await response.json()]).toEqual([403, { code: 4, message: 'Forbidden' }])
  })

  it.each([{ pingInterval: 0 }, { maxPayload: 1.5 }, { pingInterval: 2 ** 31 - 1, pingTimeout: 1 }])(
    'is not made with %o',
    options => {
      expect(() => createEngine(options)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    },
  )
})

describe('random and mutated frames', () => {
  it('end the connection or are taken, and nothing else: 200,000 of them', async () => {
    const random = seeded(4)
    const onError = vi.fn()
    const seen: string[] = []
    const { socket, endpoint } = serve(clock =>
      createSocketServer({
        ...clock,
        onError,
        maxSessions: 4,
        recovery: { maxAway: 10 },
        namespaces: {
          '/': {
            onEvent: (own, event, args, ack) => (ack ? ack(...args) : own.emit('back', event, ...args)),
          },
          '/admin': { onEvent: (_, event) => void (seen.length < 10 && seen.push(event)) },
        },
      }),
    )
    let client = await socket()
    let closed = 0
    for (let i = 0; i < 200_000; i++) {
      client.says(randomFrame(random))
      if (client.closed.length === 0) continue
      closed++
      client.handlers.close(client, 1005, '')
      client = await socket()
      client.says('40')
      client.says('40/admin,')
    }
    expect(closed).toBeGreaterThan(10_000)
    expect(seen.length).toBe(10)
    expect(endpoint.size).toBe(1)
    expect(onError).not.toHaveBeenCalled()
  })
})
