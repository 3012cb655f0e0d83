/** Clients that lose their connection and come back. */
import type { Socket } from 'socket.io-client'
import { describe, expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { eventually } from '../../eventually.ts'
import { as, isNoted, noted, openGate, own } from '../runs/client.ts'
import {
  type Client,
  clientOf,
  connected,
  ended,
  type Options,
  plain,
  play,
  type Server,
  start,
  stock,
  structuredOf,
  textOf,
  WAYS,
} from './client.ts'

/** Breaks the connection, and waits until the client has reconnected. */
async function breakOff(socket: Socket): Promise<void> {
  const back = connected(socket)
  socket.io.engine.close()
  await back
}

/** Breaks the connection. The client reconnects only on command. */
async function stayAway(socket: Socket): Promise<void> {
  socket.io.reconnection(false)
  const gone = new Promise(resolve => socket.once('disconnect', resolve))
  socket.io.engine.close()
  await gone
}

async function comeBack(socket: Socket): Promise<void> {
  const back = connected(socket)
  socket.connect()
  await back
}

const told = (client: Client, runId: string) => client.got.filter(({ data }) => data.runId === runId)

/** Starts a run, breaks the connection each time that so much has come, and expects everything once. */
async function expectAllOnce(
  socket: Socket,
  after: readonly number[],
  breakNow: typeof breakOff,
): Promise<void> {
  const client = clientOf(socket)
  await connected(socket)
  const { id } = socket
  const runId = await start(client, 'agent.run', { name: 'counts', input: '2000' })
  for (const length of after) {
    await vi.waitFor(() => expect(textOf(told(client, runId)).length).toBeGreaterThan(length), {
      timeout: 15_000,
      interval: 1,
    })
    await breakNow(socket)
    expect([socket.recovered, socket.id]).toEqual([true, id])
  }
  const text = textOf(await ended(client, runId))
  const lines = text.split('\n\n').slice(0, -1)
  expect(lines.map(line => Number(/^\d+/.exec(line)?.[0]))).toEqual(
    Array.from({ length: 2000 }, (_item, index) => index + 1),
  )
  expect(told(client, runId).at(-1)?.data.output).toEqual({ text })
}

export function recoveryCases(server: Server): void {
  it('gives nothing twice to a stock client whose connection ends in the turn of an event', () =>
    expectAllOnce(stock(server), [3000], async socket => {
      const back = connected(socket)
      socket.io.engine.once('data', () => socket.io.engine.close())
      await back
    }))

  describe.each(WAYS)('a stock client %s', (_, way) => {
    const open = (options: Options = {}) => stock(server, { ...way, ...options })

    it('gets all of a run, and nothing twice', () => expectAllOnce(open(), [3000, 20_000], breakOff))

    it('has several runs, of which some end while it is away', async () => {
      const socket = open()
      const client = clientOf(socket)
      await connected(socket)
      const gates = [own('gate'), own('gate'), own('gate')]
      const ids: string[] = []
      for (const gate of gates) {
        ids.push(await start(client, 'agent.run', { name: 'gated', input: gate }))
        await noted(server, `${gate} started`)
      }
      await eventually(() => {
        for (const id of ids) expect(textOf(told(client, id))).toBe('before ')
      })
      await openGate(server, gates[0]!)
      await ended(client, ids[0]!)
      await stayAway(socket)
      await openGate(server, gates[1]!)
      await comeBack(socket)
      expect(socket.recovered).toBe(true)
      expect(textOf(await ended(client, ids[1]!))).toBe('before after')
      await openGate(server, gates[2]!)
      expect(textOf(await ended(client, ids[2]!))).toBe('before after')
      expect(textOf(told(client, ids[0]!))).toBe('before after')
      const after = await play(client, 'agent.run', { name: 'echo', input: 'new' })
      expect(textOf(after)).toBe('new')
    })

    it('gets an answer that is larger than all that may wait for it', async () => {
      const socket = open()
      const client = clientOf(socket)
      const events = await play(client, 'agent.run', { name: 'huge', input: 'x' })
      expect(textOf(events)).toHaveLength(6_000_000)
      expect(events.at(-1)?.data.output).toEqual({ text: textOf(events) })
      expect(socket.connected).toBe(true)
    })

    it('goes on with the key that it names now', async () => {
      const socket = open({ auth: { apiKey: 'sk-test-OLDK' } })
      const client = clientOf(socket)
      const tail = async () => {
        const events = await play(client, 'agent.run', { name: 'keys-a', input: 'x' })
        return structuredOf(events).apiKey
      }
      expect(await tail()).toBe('OLDK')
      socket.auth = { apiKey: 'sk-test-NEWK' }
      await breakOff(socket)
      expect(socket.recovered).toBe(true)
      expect(await tail()).toBe('NEWK')
    })
  })

  const open = (options: Options = {}) => stock(server, { transports: ['websocket'], ...options })

  it('cancels the runs of a client that stays away', async () => {
    const socket = open()
    const gate = own('gate')
    await start(clientOf(socket), 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    await stayAway(socket)
    expect(await isNoted(server, `${gate} stopped`)).toBe(false)
    await noted(server, `${gate} stopped`)
    await comeBack(socket)
    expect(socket.recovered).toBe(false)
  })

  it('cancels the runs of a client that leaves in good order at once', async () => {
    const socket = open()
    const gate = own('gate')
    const runId = await start(clientOf(socket), 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    socket.disconnect()
    await noted(server, `${gate} stopped`)
    // The agent is stopped before the run's record shows it.
    await eventually(async () => {
      const response = await fetch(`${server().url}/api/runs/${runId}`)
      expect(await response.json()).toMatchObject({ status: 'cancelled' })
    })
  })

  it('gives nobody the socket of another identity', async () => {
    const socket = open({ extraHeaders: as(own('ann')) })
    const client = clientOf(socket)
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await eventually(() => expect(told(client, runId)).toHaveLength(1))
    const { _pid: pid, _lastOffset: offset } = socket as unknown as { _pid: string; _lastOffset: string }
    expect(offset).toMatch(/^[\da-f]{8};1;1\.1$/)
    const thief = open({ extraHeaders: as(own('bob')), auth: { pid, offset } })
    const stolen = clientOf(thief)
    await connected(thief)
    expect(thief.id).not.toBe(socket.id)
    await openGate(server, gate)
    await ended(client, runId)
    expect(stolen.got).toEqual([])
  })

  it.each(['nonsense', '1;1.', '-1', '1;1.1;x', 'z'.repeat(20), ''])(
    'begins anew with the place %j',
    async offset => {
      const socket = open()
      const client = clientOf(socket)
      const gate = own('gate')
      await start(client, 'agent.run', { name: 'gated', input: gate })
      await noted(server, `${gate} started`)
      await stayAway(socket)
      const state = socket as unknown as { _lastOffset: string }
      state._lastOffset = offset
      await comeBack(socket)
      expect(socket.recovered).toBe(false)
      await noted(server, `${gate} stopped`)
      await play(client, 'agent.run', { name: 'echo', input: 'x' })
    },
  )

  it('replaces a connection that is still there', async () => {
    const socket = open()
    const client = clientOf(socket)
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await eventually(() => expect(told(client, runId)).toHaveLength(1))
    const { _pid: pid, _lastOffset: offset } = socket as unknown as { _pid: string; _lastOffset: string }
    const second = open({ auth: { pid, offset } })
    const again = clientOf(second)
    await connected(second)
    expect(second.id).toBe(socket.id)
    // The new connection does not know of runs that the old one starts now.
    const late = own('gate')
    const lateId = await start(client, 'agent.run', { name: 'gated', input: late })
    await eventually(async () => {
      const response = await fetch(`${server().url}/api/runs/${lateId}`)
      expect(await response.json()).toMatchObject({ status: 'cancelled' })
    })
    // The end of the old connection no longer cancels anything.
    await stayAway(socket)
    await openGate(server, gate)
    expect(textOf(await ended(again, runId))).toBe('after')
  })

  it('does not take the place of an earlier socket for one of its own', async () => {
    const socket = open()
    const client = clientOf(socket)
    await play(client, 'agent.run', { name: 'echo', input: 'a b c d e f g h' })
    socket.disconnect()
    await comeBack(socket)
    expect(socket.recovered).toBe(false)
    const gate = own('gate')
    const runId = await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    const before = told(client, runId).length
    await stayAway(socket)
    await openGate(server, gate)
    await comeBack(socket)
    expect(socket.recovered).toBe(true)
    const events = await ended(client, runId)
    expect(before).toBeLessThan(events.length)
    expect(textOf(events)).toBe('before after')
  })

  it('has the answer of every run that ended while nothing reached it, and each once', async () => {
    const owner = as(own('ann'))
    const socket = open({ extraHeaders: owner })
    const client = clientOf(socket)
    const gate = own('gate')
    const atWork = await start(client, 'agent.run', { name: 'gated', input: gate })
    await eventually(() => expect(textOf(told(client, atWork))).toBe('before '))
    const { ws } = socket.io.engine.transport as unknown as { ws: WebSocket }
    // Messages are lost from now on, and no side knows it yet.
    ws.onmessage = () => {}
    const inputs = Array.from({ length: 95 }, (_item, index) => `answer ${index}`)
    const completed = async () => {
      const response = await fetch(`${server().url}/api/runs?status=completed&limit=100`, { headers: owner })
      return (await response.json()).runs.length
    }
    // A few at a time, to stay within a socket's limit.
    for (let sent = 0; sent < inputs.length; ) {
      const some = inputs.slice(sent, sent + 7)
      for (const input of some) socket.emit('agent.run', { name: 'echo', input })
      sent += some.length
      await eventually(async () => expect(await completed()).toBe(sent))
    }
    const back = connected(socket)
    ws.terminate()
    await back
    expect(socket.recovered).toBe(true)
    const ends = () => client.got.filter(({ event }) => event === 'agent.done' || event === 'agent.error')
    await eventually(() => expect(ends()).toHaveLength(inputs.length))
    const texts = ends().map(({ data }) => (data.output as { text: string } | undefined)?.text)
    expect(new Set(texts)).toEqual(new Set(inputs))
    // The run that was running all the time continues, and there is room for more runs.
    await openGate(server, gate)
    expect(textOf(await ended(client, atWork))).toBe('before after')
    await play(client, 'agent.run', { name: 'echo', input: 'after' })
  })

  it('lets a background run go on when its client leaves for good', async () => {
    const socket = open()
    const gate = own('gate')
    const payload = { name: 'gated', input: gate, background: true }
    const runId = await start(clientOf(socket), 'agent.run', payload)
    await noted(server, `${gate} started`)
    socket.disconnect()
    await openGate(server, gate)
    await eventually(async () => {
      const response = await fetch(`${server().url}/api/runs/${runId}`)
      expect(await response.json()).toMatchObject({ status: 'completed' })
    })
  })

  it('ends a run of a shared key with the one who began it, and with nobody else', async () => {
    const [first, second] = [open(), open()]
    const [one, two] = [clientOf(first), clientOf(second)]
    const payload = { name: 'gated', input: own('gate'), idempotencyKey: own('key') }
    const runId = await start(one, 'agent.run', payload)
    expect(await start(two, 'agent.run', payload)).toBe(runId)
    second.disconnect()
    await openGate(server, payload.input)
    expect(textOf(await ended(one, runId))).toBe('before after')
    expect(two.got.length).toBeLessThan(3)
  })

  it('cancels a run that was about to begin when its client left for good', async () => {
    const socket = open()
    await connected(socket)
    const gate = own('gate')
    socket.emit('agent.run', { name: 'gated', input: gate })
    socket.disconnect()
    await noted(server, `${gate} stopped`)
  })

  it('is not for plain WebSockets: their runs end with them', async () => {
    const client = await plain(server)
    const gate = own('gate')
    await start(client, 'agent.run', { name: 'gated', input: gate })
    await noted(server, `${gate} started`)
    client.leave()
    await noted(server, `${gate} stopped`)
  })
}
