// @module-tag long
import type { Socket } from 'socket.io-client'
import { describe, expect, it } from 'vitest'
import {
  type Client,
  clientOf,
  connected,
  ended,
  plain,
  play,
  start,
  stock,
  structuredOf,
  textOf,
} from '../contracts/gateway/client.ts'
import { noted, openGate, own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { startEvicting } from './evicting.ts'

const startGateway = (vars: { RECOVERY?: 'on'; AUTHENTICATE?: 'on'; TOKENS?: 'on' }) =>
  startEvicting('test/runtimes/entries/hibernation.ts', ['Run', 'Index', 'Gateway'], vars)

type Evicting = Awaited<ReturnType<typeof startGateway>>

/** Takes the object out of memory, its sockets staying as they are; gives how often it was made before. */
async function evictOf({ made, worker }: Evicting): Promise<number> {
  const before = await made()
  await worker.evictDurableObject('ServableGateway', { name: 'gateway:0', webSockets: 'hibernate' })
  return before
}

describe('an object that leaves memory while its clients stay', () => {
  const server = served(() => startGateway({ RECOVERY: 'on' }))
  const evict = () => evictOf(server())

  async function open(auth: object, headers: Record<string, string> = {}): Promise<[Socket, Client]> {
    const socket = stock(server, { transports: ['websocket'], auth, extraHeaders: headers })
    const client = clientOf(socket)
    await connected(socket)
    return [socket, client]
  }

  const keyOf = async (client: Client) => {
    const events = await play(client, 'agent.run', { name: 'keys-a', input: 'x' })
    return structuredOf(events).apiKey
  }

  it('answers the next event, with the key and the identity of the handshake', async () => {
    const ann = own('ann')
    const [socket, client] = await open({ apiKey: 'sk-test-HAND' }, { 'x-test-user': ann })
    const { id } = socket
    expect(await keyOf(client)).toBe('HAND')
    for (let time = 0; time < 3; time++) {
      const before = await evict()
      expect(await keyOf(client)).toBe('HAND')
      expect(await server().made()).toBe(before + 1)
    }
    const told = await play(client, 'agent.run', { name: 'told', input: 'x' })
    expect(structuredOf(told)).toMatchObject({ userId: ann })
    expect([socket.connected, socket.id]).toEqual([true, id])
  })

  it('serves a client that came by polling, and one that is plain', async () => {
    const socket = stock(server)
    const client = clientOf(socket)
    await connected(socket)
    await eventually(() => expect(socket.io.engine.transport.name).toBe('websocket'))
    // The client has moved once the server has seen its last word on polling.
    await play(client, 'agent.run', { name: 'echo', input: 'before' })
    const frames = await plain(server, { connect: { apiKey: 'sk-test-PLAI' } })
    expect(await keyOf(frames)).toBe('PLAI')
    await evict()
    expect(await keyOf(frames)).toBe('PLAI')
    expect(textOf(await play(client, 'agent.run', { name: 'echo', input: 'after it' }))).toBe('after it')
    expect(socket.connected).toBe(true)
  })

  it('knows what its client has seen, so that nothing is lost when it comes back', async () => {
    const [socket, client] = await open({})
    await play(client, 'agent.run', { name: 'echo', input: 'one' })
    await evict()
    await play(client, 'agent.run', { name: 'echo', input: 'two' })
    await evict()
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    const back = connected(socket)
    socket.io.engine.close()
    await back
    expect(socket.recovered).toBe(true)
    await openGate(server, gate)
    expect(textOf(await ended(client, runId))).toBe('before after')
  })

  it('gives nobody the socket of another identity, whose private id they know', async () => {
    const ann = own('ann')
    const [socket, client] = await open({}, { 'x-test-user': ann })
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    const place = () => socket as unknown as { _pid: string; _lastOffset?: string }
    await eventually(() => expect(place()._lastOffset).toBeDefined())
    const { _pid: pid, _lastOffset: offset } = place()
    for (const user of [own('bob'), undefined]) {
      await evict()
      const headers: Record<string, string> = user === undefined ? {} : { 'x-test-user': user }
      const [thief, stolen] = await open({ pid, offset }, headers)
      expect(thief.id).not.toBe(socket.id)
      expect(thief.recovered).toBe(false)
      expect(textOf(await play(stolen, 'agent.run', { name: 'echo', input: 'own' }))).toBe('own')
      expect(stolen.got.filter(({ data }) => data.runId === runId)).toEqual([])
    }
    await openGate(server, gate)
    expect(textOf(await ended(client, runId))).toBe('before after')
  })

  it('goes on pinging, so that its clients stay', async () => {
    const [socket, client] = await open({})
    let pings = 0
    socket.io.engine.on('ping', () => pings++)
    await eventually(() => expect(pings).toBeGreaterThan(0))
    await evict()
    const before = pings
    await eventually(() => expect(pings).toBeGreaterThan(before + 1))
    expect(textOf(await play(client, 'agent.run', { name: 'echo', input: 'here' }))).toBe('here')
  })

  it('knows that a client is gone which left while it slept', async () => {
    const [socket] = await open({})
    await evict()
    socket.disconnect()
    const [, other] = await open({})
    expect(textOf(await play(other, 'agent.run', { name: 'echo', input: 'here' }))).toBe('here')
  })
})

/** What a client says of itself, to the middleware, to `authenticate` and by a token: each deployment hears one of them. */
const said = (user: string) => ({
  auth: { apiKey: 'sk-test-HAND', user, token: `token-of-${user}` },
  extraHeaders: { 'x-test-user': user },
})

describe.each([
  ['the middleware, with recovery', { RECOVERY: 'on' }],
  ['the middleware, without recovery', {}],
  ['`authenticate`, with recovery', { RECOVERY: 'on', AUTHENTICATE: 'on' }],
  ['`authenticate`, without recovery', { AUTHENTICATE: 'on' }],
  ['`auth.token`, without recovery', { TOKENS: 'on' }],
] as const)('a client that is let in by %s, when its object sleeps before it has run anything', (_, vars) => {
  const server = served(() => startGateway(vars))

  /** The next run has the owner and the key of the handshake, whatever the client claims by now. */
  async function expectKnown(client: Client, user: string): Promise<void> {
    const before = await evictOf(server())
    const told = await play(client, 'agent.run', { name: 'told', input: 'x', userId: 'victim' })
    expect(structuredOf(told)).toMatchObject({ userId: user })
    const keys = await play(client, 'agent.run', { name: 'keys-a', input: 'x' })
    expect(structuredOf(keys).apiKey).toBe('HAND')
    expect(await server().made()).toBe(before + 1)
  }

  it('keeps its identity and its key on WebSocket', async () => {
    const user = own('ann')
    const socket = stock(server, { transports: ['websocket'], ...said(user) })
    await connected(socket)
    await expectKnown(clientOf(socket), user)
    expect(socket.connected).toBe(true)
  })

  it('keeps them when it came by polling', async () => {
    const user = own('ann')
    const socket = stock(server, said(user))
    await connected(socket)
    await eventually(() => expect(socket.io.engine.transport.name).toBe('websocket'))
    // The server has seen the client move once it has answered on the new transport.
    await clientOf(socket).ask('no.such.event')
    await expectKnown(clientOf(socket), user)
    expect(socket.connected).toBe(true)
  })

  it('keeps them when it joins the namespace for a second time', async () => {
    const user = own('ann')
    const socket = stock(server, { transports: ['websocket'], ...said(user) })
    await connected(socket)
    await evictOf(server())
    const manager = socket.io
    // Holds the connection while the namespace is left.
    const other = manager.socket('/nowhere')
    other.connect()
    socket.disconnect()
    const again = connected(socket)
    socket.connect()
    await again
    await expectKnown(clientOf(socket), user)
    other.disconnect()
  })

  it('keeps them on a plain WebSocket', async () => {
    const user = own('ann')
    const { auth, extraHeaders: headers } = said(user)
    await expectKnown(await plain(server, { connect: auth, headers }), user)
  })
})
