import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'socket.io-client'
import { describe, expect, it, vi } from 'vitest'
import { createTestHarness } from 'wrangler'
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
import { root } from './process.ts'

/** Wrangler's own server, which can evict an object as Cloudflare does. */
async function startHarness() {
  const folder = await mkdtemp(join(tmpdir(), 'servable-hibernation-'))
  const configPath = join(folder, 'wrangler.json')
  const classes = ['Run', 'Index', 'Gateway'].map(name => ({
    name: `SERVABLE_${name.toUpperCase()}`,
    class_name: `Servable${name}`,
  }))
  await writeFile(
    configPath,
    JSON.stringify({
      name: 'hibernation',
      main: join(root, 'test/runtimes/entries/hibernation.ts'),
      compatibility_date: '2026-10-01',
      compatibility_flags: ['enable_request_signal'],
      durable_objects: { bindings: classes },
      migrations: [{ tag: 'v1', new_sqlite_classes: classes.map(({ class_name }) => class_name) }],
    }),
  )
  const harness = createTestHarness({ root, workers: [{ configPath }] })
  const { url } = await harness.listen()
  const worker = harness.getWorker()
  return {
    runtime: 'wrangler' as const,
    url: url.origin,
    folder,
    pid: process.pid,
    log: () => '',
    kill: () => harness.close(),
    async stop() {
      await harness.close()
      await rm(folder, { recursive: true, force: true })
    },
    /** Takes the object out of memory, its sockets staying as they are; gives how often it was made before. */
    async evict(): Promise<number> {
      const made = await timesMade(url.origin)
      await worker.evictDurableObject('ServableGateway', { name: 'gateway:0', webSockets: 'hibernate' })
      return made
    },
  }
}

const timesMade = async (url: string): Promise<number> => Number(await (await fetch(`${url}/made`)).text())

describe('an object that leaves memory while its clients stay', () => {
  const server = served(startHarness)

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
      const before = await server().evict()
      expect(await keyOf(client)).toBe('HAND')
      expect(await timesMade(server().url)).toBe(before + 1)
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
    await server().evict()
    expect(await keyOf(frames)).toBe('PLAI')
    expect(textOf(await play(client, 'agent.run', { name: 'echo', input: 'after it' }))).toBe('after it')
    expect(socket.connected).toBe(true)
  })

  it('knows what its client has seen, so that nothing is lost when it comes back', async () => {
    const [socket, client] = await open({})
    await play(client, 'agent.run', { name: 'echo', input: 'one' })
    await server().evict()
    await play(client, 'agent.run', { name: 'echo', input: 'two' })
    await server().evict()
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
    await server().evict()
    const before = pings
    await vi.waitFor(() => expect(pings).toBeGreaterThan(before + 1), WAIT)
    expect(textOf(await play(client, 'agent.run', { name: 'echo', input: 'here' }))).toBe('here')
  })

  it('knows that a client is gone which left while it slept', async () => {
    const [socket] = await open({})
    await server().evict()
    socket.disconnect()
    const [, other] = await open({})
    expect(textOf(await play(other, 'agent.run', { name: 'echo', input: 'here' }))).toBe('here')
  })
})
