import type { Socket } from 'socket.io-client'
import { describe, expect, it, vi } from 'vitest'
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
  WAIT,
} from '../contracts/gateway/client.ts'
import { noted, openGate, own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { startEvicting } from './evicting.ts'

describe('an object that leaves memory while its clients stay', () => {
  const server = served(() => startEvicting('hibernation.ts', ['Run', 'Index', 'Gateway']))

  /** Takes the object out of memory, its sockets staying as they are; gives how often it was made before. */
  async function evict(): Promise<number> {
    const made = await server().made()
    await server().worker.evictDurableObject('ServableGateway', {
      name: 'gateway:0',
      webSockets: 'hibernate',
    })
    return made
  }

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
    await vi.waitFor(() => expect(socket.io.engine.transport.name).toBe('websocket'), WAIT)
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

  it('goes on pinging, so that its clients stay', async () => {
    const [socket, client] = await open({})
    let pings = 0
    socket.io.engine.on('ping', () => pings++)
    await vi.waitFor(() => expect(pings).toBeGreaterThan(0), WAIT)
    await evict()
    const before = pings
    await vi.waitFor(() => expect(pings).toBeGreaterThan(before + 1), WAIT)
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
