/** Limits of clients, narrow enough for a test to reach. */
import { expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../eventually.ts'
import { notesOf } from '../http/client.ts'
import { isNoted, noted, openGate, own } from '../runs/client.ts'
import { openWire } from '../socket/client.ts'
import { clientOf, connected, ended, play, refusal, type Server, start, stock } from './client.ts'
import { NARROW } from './service.ts'

const socketOnly = { transports: ['websocket'], reconnection: false }

export function boundCases(server: Server): void {
  it('refuses one run too many, until one has ended', async () => {
    const client = clientOf(stock(server, socketOnly))
    const gates = Array.from({ length: NARROW.maxRunsPerSocket }, () => own('gate'))
    const ids = []
    for (const gate of gates) ids.push(await start(client, 'agent.run', { name: 'gated', input: gate }))
    expect(await client.ask('agent.run', { name: 'echo', input: 'x' })).toMatchObject({
      code: 'too_many_runs',
    })
    await openGate(server, gates[0]!)
    await ended(client, ids[0]!)
    await play(client, 'agent.run', { name: 'echo', input: 'x' })
    client.leave()
  })

  it('refuses events that come too fast, and tells of each', async () => {
    const client = clientOf(stock(server, socketOnly))
    const answers = await Promise.all(
      Array.from({ length: NARROW.maxEventsPerSecond * 3 }, () => client.ask('run.cancel', { runId: 'x' })),
    )
    const codes = answers.map(answer => ('code' in answer ? answer.code : ''))
    expect(codes.filter(code => code === 'run_not_found').length).toBeGreaterThanOrEqual(
      NARROW.maxEventsPerSecond,
    )
    expect(codes).toContain('rate_limited')
    await eventually(async () => {
      expect(await client.ask('run.cancel', { runId: 'x' })).toMatchObject({ code: 'run_not_found' })
    })
    client.leave()
  })

  it('counts the events of a connection, however often it joins again', async () => {
    const socket = await openWire(server, 'socket.io')
    const next = async (prefix: string) => {
      for (;;) {
        const answer = String(await socket.next())
        if (answer.startsWith(prefix)) return answer
      }
    }
    const answers: string[] = []
    for (let round = 0; round < 3; round++) {
      socket.send('40/service,')
      await next('40/service,')
      const ids = Array.from({ length: NARROW.maxEventsPerSecond - 1 }, (_, id) => id)
      for (const id of ids) socket.send(`42/service,${id}["run.cancel",{"runId":"x"}]`)
      for (const _ of ids) answers.push(await next('43/service,'))
      socket.send('41/service,')
    }
    expect(answers.join()).toContain('rate_limited')
    socket.close()
  })

  it('refuses a socket too many of one identity', async () => {
    const extraHeaders = { 'x-test-user': own('ann') }
    // Connections that the server has closed before may still have a place.
    await eventually(async () => {
      const sockets = Array.from({ length: NARROW.maxSocketsPerIdentity }, () =>
        stock(server, { ...socketOnly, extraHeaders }),
      )
      try {
        await Promise.all(sockets.map(connected))
        expect(await refusal(stock(server, { ...socketOnly, extraHeaders }))).toMatchObject({
          data: { code: 'rate_limited' },
        })
      } finally {
        for (const socket of sockets) socket.disconnect()
      }
    })
  })

  it('closes a connection that sends too many attachments', async () => {
    const socket = stock(server, socketOnly)
    await connected(socket)
    const gone = new Promise(resolve => socket.once('disconnect', resolve))
    socket.emit(
      'agent.run',
      Array.from({ length: 11 }, () => Buffer.from([1])),
    )
    await gone
  })

  it('closes a connection that says nothing', async () => {
    const socket = new WebSocket(`${server().url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
    expect(await new Promise(resolve => socket.on('close', resolve))).toBe(1008)
  })

  it('lets a run wait for a client that reads slowly', async () => {
    const url = `${server().url.replace('http', 'ws')}/socket.io/`
    const socket = new WebSocket(url)
    await new Promise(resolve => socket.on('open', resolve))
    const name = own('torrent')
    socket.send(JSON.stringify({ event: 'agent.run', data: { name: 'torrent', input: name } }))
    socket.on('message', data => {
      if (String(data).includes('"ping"')) socket.send('{"event":"pong"}')
    })
    await noted(server, `${name} started`)
    socket.pause()
    const progress = async () => (await notesOf(server)).filter(note => note.startsWith(name)).length
    // The run waits, or stops with its connection. It must not continue without a client.
    const stalled = await settled(progress)
    if (!(await isNoted(server, `${name} stopped`))) {
      socket.resume()
      await eventually(async () => expect(await progress()).toBeGreaterThan(stalled))
    }
    socket.terminate()
    await noted(server, `${name} stopped`)
  })

  it('refuses a socket too many of one address', async () => {
    await eventually(async () => {
      const sockets = Array.from({ length: NARROW.maxSocketsPerIp }, () => stock(server, socketOnly))
      try {
        await Promise.all(sockets.map(connected))
        const response = await fetch(`${server().url}/socket.io/?EIO=4&transport=polling`)
        expect(response.status).toBe(503)
      } finally {
        for (const socket of sockets) socket.disconnect()
      }
    })
  })

  it('counts the address that a proxy adds, whatever the client has sent before it', async () => {
    let forged = 0
    const headersFor = (address: string) => ({ 'x-forwarded-for': `9.9.9.${++forged}, ${address}` })
    const from = (address: string) => stock(server, { ...socketOnly, extraHeaders: headersFor(address) })
    const poll = async (address: string) => {
      const url = `${server().url}/socket.io/?EIO=4&transport=polling`
      return (await fetch(url, { headers: headersFor(address) })).status
    }
    await eventually(async () => {
      const sockets = Array.from({ length: NARROW.maxSocketsPerIp }, () => from('1.1.1.1'))
      try {
        await Promise.all(sockets.map(connected))
        expect(await poll('1.1.1.1')).toBe(503)
        expect(await poll('2.2.2.2')).toBe(200)
      } finally {
        for (const socket of sockets) socket.disconnect()
      }
    })
  })

  it('still serves', async () => {
    const client = clientOf(stock(server, { ...socketOnly, reconnection: true }))
    await play(client, 'agent.run', { name: 'echo', input: 'x' })
  })
}

/** Waits until a number has not changed for 20 looks, 10 ms or more from one to the next. */
async function settled(read: () => Promise<number>): Promise<number> {
  let [last, same] = [await read(), 0]
  const look = async () => {
    const now = await read()
    same = now === last ? same + 1 : 0
    last = now
    expect(same).toBe(20)
  }
  await vi.waitFor(look, { timeout: 15_000, interval: 10 })
  return last
}
