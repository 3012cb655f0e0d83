import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { clientOf, connected, ended, plain, play, start, stock, textOf } from '../contracts/gateway/client.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { noted, own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { startNode } from './harness.ts'

const serving = (SETTINGS: string) =>
  served(async () => ({
    ...(await startNode('test/runtimes/entries/gateway-others.ts', { env: { SETTINGS } })),
    folder: undefined,
  }))

describe('a gateway on a server of the host’s own', () => {
  const server = serving('attached')
  const open = (nsp = '/joined', options = {}) =>
    stock(server, { transports: ['websocket'], ...options }, nsp)

  it('has its namespace beside those of the host', async () => {
    expect(await open('/own').emitWithAck('hello', 1)).toBe('hello')
    const events = await play(clientOf(open()), 'agent.run', { name: 'echo', input: 'side by side' })
    expect(textOf(events)).toBe('side by side')
  })

  it('lets clients come back as that server does, and nothing is lost or told twice', async () => {
    const socket = open()
    const client = clientOf(socket)
    const runId = await start(client, 'agent.run', { name: 'counts', input: '1000' })
    for (const after of [2000, 10_000]) {
      const told = () => textOf(client.got.filter(({ data }) => data.runId === runId)).length
      await vi.waitFor(() => expect(told()).toBeGreaterThan(after), { timeout: 15_000, interval: 1 })
      const back = connected(socket)
      socket.io.engine.close()
      await back
      expect(socket.recovered).toBe(true)
    }
    const events = await ended(client, runId)
    expect(events.at(-1)?.data.output).toEqual({ text: textOf(events) })
    expect(textOf(events).split('\n\n')).toHaveLength(1001)
  })

  it('cancels the runs of a client that stays away', async () => {
    const socket = open('/joined', { reconnection: false })
    const gate = own('gate')
    await start(clientOf(socket), 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    socket.io.engine.close()
    await noted(server, `${gate} stopped`)
  })
})

describe('a gateway in a route handler, where nothing can be upgraded', () => {
  const server = serving('bare')

  runCases(server, async auth => {
    const socket = stock(server, auth && { auth })
    await connected(socket)
    expect(socket.io.engine.transport.name).toBe('polling')
    return clientOf(socket)
  })

  it('refuses what asks for a WebSocket', async () => {
    await expect(plain(server)).rejects.toThrow('status 400')
    await expect(plain(server, { path: '/socket.io/?EIO=4&transport=websocket' })).rejects.toThrow(
      'status 400',
    )
  })
})

describe('a client that pings and reads nothing', () => {
  const server = serving('usual')

  it('is not answered without end', { timeout: 300_000 }, async () => {
    const socket = new WebSocket(`${server().url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
    await new Promise(resolve => socket.once('open', resolve))
    onTestFinished(() => socket.terminate())
    let pongs = 0
    socket.on('pong', () => pongs++)
    socket.pause()
    const payload = Buffer.alloc(125)
    const pings = 120_000
    // It must end before the server gives up a client that answers no ping of Engine.IO, 45 s.
    for (let ping = 0; ping < pings; ping += 1000) {
      for (let more = 1; more < 1000; more++) socket.ping(payload)
      await new Promise<void>(resolve => socket.ping(payload, true, () => resolve()))
    }
    socket.send('40/service,')
    const joined = new Promise<void>((resolve, reject) => {
      socket.once('close', code => reject(new Error(`closed with ${code} after ${pongs} pongs`)))
      socket.on('message', data => {
        if (String(data).startsWith('40/service,')) resolve()
      })
    })
    socket.resume()
    await joined
    expect(pongs).toBeGreaterThan(0)
    expect(pongs).toBeLessThan(pings)
  })
})
