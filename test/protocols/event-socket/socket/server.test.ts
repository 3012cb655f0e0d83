import { describe, expect, it, vi } from 'vitest'
import { ServableError } from '../../../../src/base/errors.ts'
import {
  type Admission,
  createSocketServer,
  type Namespace,
  type Socket,
  type SocketServerOptions,
} from '../../../../src/protocols/event-socket/socket/index.ts'
import { eventually } from '../../../eventually.ts'
import { turn } from '../../../support.ts'
import { type OpenSocket, serve } from './served.ts'
import { recordedSocket } from './sinks.ts'

function server(main: Namespace, options: Partial<SocketServerOptions> = {}) {
  return serve(clock => createSocketServer({ namespaces: { '/': main, '/other': {} }, ...options, ...clock }))
}

/** The packets that the client got since it opened, as text. */
function got(client: OpenSocket): unknown[] {
  return client.sent.slice(1)
}

/** Joins the main namespace; gives its ids, and forgets the packets so far. */
async function joined(client: OpenSocket, payload = ''): Promise<{ sid: string; pid?: string }> {
  client.says(`40${payload}`)
  const reply = client.sent.find(frame => String(frame).startsWith('40'))
  client.sent.length = 1
  return JSON.parse(String(reply).slice(2))
}

describe('a namespace', () => {
  it('sees the payload of CONNECT, events with their arguments, and why a socket left', async () => {
    const onConnect = vi.fn()
    const onEvent = vi.fn()
    const onDisconnect = vi.fn()
    const { socket } = server({ onConnect, onEvent, onDisconnect })
    const client = await socket()
    client.says('40{"token":"123"}')
    expect(onConnect).toHaveBeenCalledWith(
      expect.objectContaining({ nsp: '/' }),
      expect.objectContaining({ nsp: '/', auth: { token: '123' }, url: expect.any(String) }),
    )
    client.says('42["hello",1,{"a":null}]')
    client.says('41')
    const [own] = onConnect.mock.calls[0]!
    expect(onEvent.mock.calls).toEqual([[own, 'hello', [1, { a: null }], undefined]])
    expect(onDisconnect.mock.calls).toEqual([[own, 'client disconnect']])
    expect(client.closed).toEqual([])
  })

  it('answers an event once', async () => {
    const { socket } = server({
      onEvent(_socket, _event, args, ack) {
        ack?.(...args)
        ack?.('again')
      },
    })
    const client = await socket()
    await joined(client)
    client.says('4212["x",1]')
    expect(got(client)).toEqual(['4312[1]'])
  })

  it('asks its client, and takes the answer, silence or a leaving client', async () => {
    let own: Socket | undefined
    const { socket, pass } = server({
      onConnect: given => {
        own = given
      },
    })
    const client = await socket()
    await joined(client)
    const answered = own!.ask('question', [1])
    const silent = own!.ask('question', [2], 100)
    const left = own!.ask('question', [3])
    expect(got(client)).toEqual(['420["question",1]', '421["question",2]', '422["question",3]'])
    client.says('430["yes"]')
    client.says('439["never asked"]')
    pass(100)
    client.says('41')
    expect(await Promise.all([answered, silent, left])).toEqual([['yes'], undefined, undefined])
    expect(await own!.ask('question', [])).toBeUndefined()
  })

  it('lets its server send a client away', async () => {
    const onDisconnect = vi.fn()
    const { socket } = server({ onEvent: own => own.disconnect(), onDisconnect })
    const client = await socket()
    await joined(client)
    client.says('42["x"]')
    expect(got(client)).toEqual(['41'])
    expect(onDisconnect).toHaveBeenCalledWith(
      expect.objectContaining({ isConnected: false }),
      'server disconnect',
    )
    expect(client.closed).toEqual([])
  })

  it('takes no event of a reserved name from its own server either', async () => {
    const onError = vi.fn()
    const { socket } = server({ onEvent: own => own.emit('disconnect') }, { onError })
    const client = await socket()
    await joined(client)
    client.says('42["x"]')
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'internal_error' }))
  })

  it('tells of handlers that throw or reject', async () => {
    const onError = vi.fn()
    const fail = new Error('no')
    const { socket } = server(
      { onEvent: (_, name) => (name === 'now' ? thrown(fail) : Promise.reject(fail)) },
      { onError },
    )
    const client = await socket()
    await joined(client)
    client.says('42["now"]')
    client.says('42["later"]')
    await turn()
    expect(onError.mock.calls).toEqual([[fail], [fail]])
    expect(client.closed).toEqual([])
  })
})

function thrown(error: unknown): never {
  throw error
}

describe('joining a namespace', () => {
  it.each<[string, Namespace['authenticate'], unknown]>([
    ['says no', () => ({ error: { message: 'Not you' } }), { message: 'Not you' }],
    [
      'says no and why',
      () => ({ error: { message: 'Not you', data: { hint: 1 } } }),
      { message: 'Not you', data: { hint: 1 } },
    ],
    ['says nothing', () => undefined as never, { message: 'Not authorized' }],
    ['promises nothing', async () => undefined as never, { message: 'Not authorized' }],
    [
      'throws a secret',
      () => thrown(new Error('secret')),
      { message: 'Internal server error', data: { code: 'internal_error' } },
    ],
    [
      'throws what the client may see',
      async () => thrown(new ServableError('unauthorized', 'Who are you?')),
      { message: 'Who are you?', data: { code: 'unauthorized' } },
    ],
  ])('fails where `authenticate` %s', async (_, authenticate, error) => {
    const onConnect = vi.fn()
    const { socket, pass } = server({ authenticate: authenticate!, onConnect }, { onError: () => {} })
    const client = await socket()
    client.says('40')
    await turn()
    expect(got(client)).toEqual([`44${JSON.stringify(error)}`])
    expect(onConnect).not.toHaveBeenCalled()
    pass(10_000)
    expect(client.closed).toEqual([{ code: 1008, reason: 'connect timeout' }])
  })

  it('keeps what `authenticate` found out', async () => {
    const onConnect = vi.fn()
    const { socket } = server({ authenticate: () => ({ data: { user: 'ann' } }), onConnect })
    await joined(await socket())
    expect(onConnect.mock.calls[0]![0].data).toEqual({ user: 'ann' })
  })

  it('is refused for a namespace that is not there, also one that every object has', async () => {
    const { socket } = server({})
    const client = await socket()
    client.says('40/random')
    client.says('40/constructor,')
    const message = '{"message":"Invalid namespace"}'
    expect(got(client)).toEqual([`44/random,${message}`, `44/constructor,${message}`])
  })

  it('is refused where one connection asks for too many', async () => {
    const { socket } = server({}, { maxNamespaces: 1 })
    const client = await socket()
    await joined(client)
    client.says('40/other,')
    expect(got(client)).toEqual(['44/other,{"message":"Too many namespaces"}'])
  })

  it.each([
    ['an event before it', ['42["x"]']],
    ['an event while it is looked at', ['40', '42["x"]']],
    ['a second one at once', ['40', '40']],
    ['a second one later', ['40/other,', '40/other,']],
    ['a packet that only servers send', ['40/other,', '44/other,{"message":"x"}']],
    ['an event elsewhere', ['40/other,', '42["x"]']],
  ])('ends the connection with %s', async (_, frames) => {
    const { socket } = server({ authenticate: async () => ({}) })
    const client = await socket()
    for (const frame of frames) client.says(frame)
    expect(client.closed).toEqual([{ code: 1002, reason: 'parse error' }])
  })

  it('can be taken back while it is looked at', async () => {
    const onConnect = vi.fn()
    const { socket } = server({ authenticate: async () => ({}), onConnect })
    const client = await socket()
    client.says('40')
    client.says('41')
    await turn()
    expect(got(client)).toEqual([])
    expect(onConnect).not.toHaveBeenCalled()
  })

  it('comes to nothing where the client has left meanwhile', async () => {
    const onConnect = vi.fn()
    const { socket } = server({ authenticate: async () => ({}), onConnect })
    const client = await socket()
    client.says('40')
    client.handlers.close(client, 1006, '')
    await turn()
    expect(onConnect).not.toHaveBeenCalled()
  })

  it('is not possible with a name that is none', () => {
    const make = () => createSocketServer({ namespaces: { admin: {} } })
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})

describe('recovery', () => {
  function recovering(options: Partial<SocketServerOptions> = {}, main: Namespace = {}) {
    const sockets: Socket[] = []
    const onDisconnect = vi.fn()
    const onRecover = vi.fn()
    const served = server(
      { onConnect: own => void sockets.push(own), onDisconnect, onRecover, ...main },
      { recovery: { maxMs: 1000, maxBytes: 200 }, ...options },
    )
    return { ...served, sockets, onDisconnect, onRecover }
  }
  const lose = (client: OpenSocket) => client.handlers.close(client, 1006, '')
  const events = (client: OpenSocket) => client.sent.filter(frame => String(frame).startsWith('42'))

  it('gives every event an offset, and sends what was missed, once', async () => {
    const { socket, sockets, onRecover, onDisconnect } = recovering()
    const first = await socket()
    const { sid, pid } = await joined(first)
    sockets[0]!.emit('n', 1)
    expect(events(first)).toEqual(['42["n",1,"1"]'])
    sockets[0]!.emit('n', 2)
    lose(first)
    expect(sockets[0]!.isConnected).toBe(false)
    sockets[0]!.emit('n', 3)
    const second = await socket()
    second.says(`40${JSON.stringify({ pid, offset: '1' })}`)
    expect(got(second)).toEqual([`40${JSON.stringify({ sid, pid })}`, '42["n",2,"2"]', '42["n",3,"3"]'])
    sockets[0]!.emit('n', 4)
    expect(events(second).at(-1)).toBe('42["n",4,"4"]')
    expect(sockets).toHaveLength(1)
    expect(onRecover).toHaveBeenCalledExactlyOnceWith(sockets[0])
    expect(onDisconnect).not.toHaveBeenCalled()
  })

  it('sends everything to a client that has had no event yet', async () => {
    const { socket, sockets } = recovering()
    const first = await socket()
    const { pid } = await joined(first)
    lose(first)
    sockets[0]!.emit('n', new Uint8Array([7]))
    const second = await socket()
    second.says(`40${JSON.stringify({ pid })}`)
    expect(got(second).slice(1)).toEqual(['451-["n",{"_placeholder":true,"num":0},"1"]', new Uint8Array([7])])
  })

  it('takes over a connection that has not noticed that nobody is there', async () => {
    const { socket, sockets, onDisconnect, endpoint } = recovering()
    const first = await socket()
    const { pid } = await joined(first)
    const second = await socket()
    second.says(`40${JSON.stringify({ pid })}`)
    expect(first.closed).toHaveLength(1)
    sockets[0]!.emit('n')
    expect(events(second)).toHaveLength(1)
    expect(endpoint.size).toBe(1)
    expect(onDisconnect).not.toHaveBeenCalled()
  })

  it.each([
    ['is over', { ms: 1000 }],
    ['was left by the client itself', { frame: '41' }],
    ['was broken off by a packet that is none', { frame: '4abc' }],
    ['missed more than is kept', { emits: 20 }],
    ['names an offset that is none', { offset: 'A' }],
    ['names an offset that is not there yet', { offset: 'zz' }],
    ['is of another namespace', { nsp: '/other,' }],
    ['is unknown', { pid: 'unknown' }],
  ])('starts anew where the old connection %s', async (_, how: Record<string, string | number>) => {
    const { socket, sockets, pass } = recovering()
    const first = await socket()
    const { sid, pid } = await joined(first)
    if (how.frame === undefined) lose(first)
    else first.says(String(how.frame))
    for (let i = 0; i < Number(how.emits ?? 0); i++) sockets[0]!.emit('n', 'x'.repeat(20))
    pass(Number(how.ms ?? 0))
    const second = await socket()
    second.says(
      `40${how.nsp ?? ''}${JSON.stringify({ pid, offset: how.offset, ...(how.pid ? { pid: how.pid } : {}) })}`,
    )
    expect(got(second)).toHaveLength(1)
    expect(String(got(second)[0])).not.toContain(sid)
  })

  it('tells at last that a socket has left, and keeps no more clients than it may', async () => {
    const { socket, sockets, onDisconnect, pass } = recovering({ recovery: { maxMs: 1000, maxAway: 2 } })
    for (let i = 0; i < 3; i++) {
      const client = await socket()
      await joined(client)
      lose(client)
    }
    expect(onDisconnect.mock.calls).toEqual([[sockets[0], 'transport close']])
    pass(1000)
    expect(onDisconnect).toHaveBeenCalledTimes(3)
  })

  it('asks `authenticate` again, and `mayRecover` whether it is the same client', async () => {
    const { socket, sockets } = recovering(
      {},
      {
        authenticate: ({ auth }) => ({ data: auth.user }),
        mayRecover: (own, data) => own.data === data,
      },
    )
    const first = await socket()
    const { pid, sid } = await joined(first, '{"user":"ann"}')
    lose(first)
    const thief = await socket()
    thief.says(`40${JSON.stringify({ pid, user: 'bob' })}`)
    expect(String(got(thief)[0])).not.toContain(sid)
    const owner = await socket()
    owner.says(`40${JSON.stringify({ pid, user: 'ann' })}`)
    expect(String(got(owner)[0])).toContain(sid)
    expect(sockets[0]!.isConnected).toBe(true)
  })

  it('forgets what a client has confirmed with its pongs', async () => {
    const { socket, sockets, pass } = recovering({ recovery: { maxBytes: 100_000 } })
    const first = await socket()
    const { pid } = await joined(first)
    sockets[0]!.emit('n', 1)
    for (let beats = 0; beats < 2; beats++) {
      pass(25_000)
      first.says('3')
    }
    sockets[0]!.emit('n', 2)
    lose(first)
    const second = await socket()
    // Whoever answered pings has had the first event.
    second.says(`40${JSON.stringify({ pid, offset: '0' })}`)
    expect(events(second)).toEqual([])
  })

  it('lets all leave when the server closes', async () => {
    const { socket, onDisconnect, endpoint } = recovering()
    const [one, other] = [await socket(), await socket()]
    await joined(one)
    await joined(other)
    lose(one)
    endpoint.close()
    expect(onDisconnect.mock.calls.map(([, reason]) => reason)).toEqual(['server close', 'server close'])
  })
})

describe('a client that joins and leaves while it is looked at', () => {
  it('has no more answers of `authenticate` to come than namespaces', async () => {
    const opened = Promise.withResolvers<void>()
    let asked = 0
    const { socket } = server({
      async authenticate() {
        asked++
        await opened.promise
        return {}
      },
    })
    const client = await socket()
    for (let round = 0; round < 1000; round++) {
      client.says('40')
      client.says('41')
    }
    expect(asked).toBeLessThanOrEqual(16)
    opened.resolve()
    await opened.promise
    expect(got(client).join()).not.toContain('40{')
  })

  it('comes in by the last attempt, and not by the one that it gave up', async () => {
    const answers: PromiseWithResolvers<Admission>[] = []
    const { socket } = server({
      authenticate() {
        const answer = Promise.withResolvers<Admission>()
        answers.push(answer)
        return answer.promise
      },
      onEvent: (own, _event, _args, ack) => ack?.(own.data),
    })
    const client = await socket()
    client.says('40{"try":1}')
    client.says('41')
    client.says('40{"try":2}')
    answers[0]?.resolve({ data: 'first' })
    await eventually(() => expect(answers).toHaveLength(2))
    await Promise.resolve()
    expect(client.closed).toEqual([])
    answers[1]?.resolve({ data: 'second' })
    await eventually(() => expect(got(client).join()).toContain('40{'))
    client.says('427["who"]')
    expect(got(client).at(-1)).toBe('437["second"]')
  })
})

/** A socket as a snapshot has it, and one whose data is not known. */
const LAYER = { nsp: '/', id: 'a', pid: 'b', last: 0, data: 'ann' }
const OTHER = { ...LAYER, data: 'unknown' }

describe('a snapshot', () => {
  const make = (main: Namespace) => server(main, { recovery: true })
  const echo: Namespace = {
    authenticate: ({ auth }) => ({ data: auth.user }),
    onEvent(own, event, args, ack) {
      if (ack) ack(own.data, ...args)
      else own.emit(event, own.data, ...args)
    },
  }

  it('lets a WebSocket go on elsewhere, and its client notices nothing', async () => {
    const first = make(echo)
    const client = await first.socket()
    await joined(client, '{"user":"ann"}')
    client.says('40/other,')
    client.says('42["n",1]')
    expect(got(client).at(-1)).toBe('42["n","ann",1,"1"]')
    const kept = JSON.parse(JSON.stringify(client.handlers.snapshot?.()))
    expect(JSON.stringify(kept).length).toBeLessThan(1000)

    const second = make(echo)
    const raw = recordedSocket(0)
    const handlers = second.endpoint.restore(kept, raw)
    handlers.message(raw, '42["n",2]')
    handlers.message(raw, '427["n",3]')
    handlers.message(raw, '41/other,')
    expect(raw.sent).toEqual(['42["n","ann",2,"2"]', '437["ann",3]'])
    second.pass(25_000)
    expect(raw.sent.at(-1)).toBe('2')
    handlers.message(raw, '3')
    // The namespace is joined, so a second CONNECT is one too many.
    handlers.message(raw, '40')
    expect(raw.closed).toHaveLength(1)
  })

  it('is there for a session that has moved to WebSocket, and not before', async () => {
    const { poll, socket } = make(echo)
    const sid = await poll()
    const client = await socket(`&sid=${sid}`)
    client.says('2probe')
    expect(client.handlers.snapshot?.()).toBeUndefined()
    client.says('5')
    expect(client.handlers.snapshot?.()).toBeUndefined()
    await joined(client)
    expect(client.handlers.snapshot?.()).toMatchObject({ sid, layer: [{ nsp: '/' }] })
  })

  it('keeps a pong that is waited for, and no header', async () => {
    const first = make(echo)
    const client = await first.socket()
    await joined(client)
    first.pass(25_000)
    expect(client.sent.at(-1)).toBe('2')
    const kept = JSON.parse(JSON.stringify(client.handlers.snapshot?.()))
    expect(kept.handshake.headers).toEqual({})
    const second = make(echo)
    second.pass(25_000)
    const raw = recordedSocket(0)
    second.endpoint.restore(kept, raw)
    second.pass(20_000)
    expect(raw.closed).toEqual([{ code: 1000, reason: 'ping timeout' }])
  })

  it.each([
    ['null', () => null],
    ['text', () => 'x'],
    ['a session without a heartbeat', (kept: object) => ({ ...kept, heartbeat: undefined })],
    ['sockets that are no list', (kept: object) => ({ ...kept, layer: {} })],
    ['a socket that is none', (kept: object) => ({ ...kept, layer: [{ nsp: '/' }] })],
    ['a namespace that is not served', (kept: object) => ({ ...kept, layer: [{ ...LAYER, nsp: '/gone' }] })],
    ['data that the namespace does not take', (kept: object) => ({ ...kept, layer: [LAYER, OTHER] })],
  ])('that is %s closes the socket, and leaves nothing of it', async (_, broken) => {
    const first = make(echo)
    const client = await first.socket()
    await joined(client)
    const left: unknown[] = []
    const second = make({
      onRestore({ data }) {
        if (data === 'unknown') throw new Error('who is it?')
      },
      onDisconnect: own => left.push(own.data),
    })
    const raw = recordedSocket(0)
    const kept = broken(client.handlers.snapshot?.() as object) as never
    expect(() => second.endpoint.restore(kept, raw)).toThrow()
    expect(raw.closed[0]).toMatchObject({ code: 1012 })
    expect(second.endpoint.size).toBe(0)
  })

  it('is to be taken again when `data` is given anew, and when it says that it has changed', async () => {
    const sockets: Socket[] = []
    const { socket } = make({ onConnect: own => void sockets.push(own) })
    const client = await socket()
    await joined(client)
    const before = client.changes
    for (const own of sockets) own.data = { n: 1 }
    expect(client.changes).toBe(before + 1)
    for (const own of sockets) own.touch()
    expect(client.changes).toBe(before + 2)
  })

  it('is refused where `data` is too large to be kept', async () => {
    const { socket } = make({ authenticate: () => ({ data: 'x'.repeat(5000) }) })
    const client = await socket()
    await joined(client)
    expect(() => client.handlers.snapshot?.()).toThrow(expect.objectContaining({ code: 'internal_error' }))
  })
})

describe('the path', () => {
  it.each([
    ['is left out', {}],
    ['is given as undefined', { path: undefined }],
  ])('is `/socket.io/` where it %s', async (_, path) => {
    const endpoint = createSocketServer({ namespaces: { '/': {} }, ticks: 'caller', ...(path as object) })
    const answer = await endpoint.fetch(new Request('http://h/socket.io/?EIO=4&transport=polling'))
    expect(answer.status).toBe(200)
    endpoint.close()
  })
})
