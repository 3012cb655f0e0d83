/** Clients that missed much, and stores that break, against a server in this process. */
import type { Socket } from 'socket.io-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { WebSocket } from 'ws'
import {
  Agent,
  createHandler,
  type GatewayLimits,
  memoryState,
  type State,
  textOf,
} from '../../../../src/index.ts'
import { serve } from '../../../../src/runtimes/node.ts'
import type { Store, Transaction } from '../../../../src/stores/store.ts'
import { type Client, clientOf, connected, play, stock } from '../../../contracts/gateway/client.ts'
import { eventually } from '../../../eventually.ts'

/** A server, and how many of its runs were stopped. */
async function start(limits: GatewayLimits = {}, state: State = memoryState()) {
  const counts = { stopped: 0 }
  const echo = new Agent({
    name: 'echo',
    run: input => textOf(input),
    register: false,
  })
  const waiting = new Agent({
    name: 'waiting',
    run: (_input, { signal }) =>
      new Promise<string>(resolve => {
        signal.addEventListener('abort', () => {
          counts.stopped++
          resolve('')
        })
      }),
    register: false,
  })
  const handler = createHandler({
    agents: { echo, waiting },
    registry: false,
    state,
    logger: false,
    gateway: { recovery: true, limits: { maxEventsPerSecond: 1000, ...limits } },
  })
  const { url, close } = await serve(handler, { port: 0 })
  onTestFinished(() => close())
  const server = {
    runtime: 'node',
    url,
    pid: 0,
    folder: undefined,
    log: () => '',
    stop: close,
    kill: close,
  } as const
  return { open: () => stock(() => server, { transports: ['websocket'] }), counts }
}

const wireOf = (socket: Socket) => (socket.io.engine.transport as unknown as { ws: WebSocket }).ws

/** After so many ends of runs nothing reaches the client any more, and nobody knows yet. Gives how many were sent. */
function goDeaf(socket: Socket, ends = 0): () => number {
  const ws = wireOf(socket)
  const { onmessage } = ws
  let sent = 0
  ws.onmessage = message => {
    if (sent < ends) onmessage?.call(ws, message)
    if (String(message.data).includes('agent.done')) sent++
  }
  return () => sent
}

async function breakOff(socket: Socket): Promise<void> {
  const back = connected(socket)
  wireOf(socket).terminate()
  await back
}

const answers = ({ got }: Client) =>
  got
    .filter(({ event }) => event === 'agent.done' || event === 'agent.error')
    .map(({ data }) => (data.output as { text: string } | undefined)?.text)

describe('a client that missed many runs', () => {
  it('is cut off again and again while it is told of them, and has each answer once', async () => {
    const { open } = await start({ maxRunsPerSocket: 3 })
    const socket = open()
    const client = clientOf(socket)
    await play(client, 'agent.run', { name: 'echo', input: 'first' })
    const sent = goDeaf(socket)
    const inputs = Array.from({ length: 60 }, (_item, index) => `answer ${index}`)
    for (const [index, input] of inputs.entries()) {
      socket.emit('agent.run', { name: 'echo', input })
      await vi.waitFor(() => expect(sent()).toBe(index + 1), { timeout: 15_000, interval: 1 })
    }
    for (const after of [5, 17, 18, 40]) {
      const more = after - answers(client).length + 1
      socket.io.once('open', () => goDeaf(socket, more))
      await breakOff(socket)
      expect(socket.recovered).toBe(true)
      await eventually(() => expect(answers(client)).toHaveLength(after + 1))
    }
    await breakOff(socket)
    await eventually(() => expect(answers(client)).toHaveLength(61))
    expect(new Set(answers(client))).toEqual(new Set(['first', ...inputs]))
    expect((await play(client, 'agent.run', { name: 'echo', input: 'new' })).at(-1)?.event).toBe('agent.done')
  })

  it('gets what it missed where a socket may have any number of runs', async () => {
    const { open } = await start({ maxRunsPerSocket: Number.MAX_SAFE_INTEGER })
    const socket = open()
    const client = clientOf(socket)
    await play(client, 'agent.run', { name: 'echo', input: 'first' })
    const sent = goDeaf(socket)
    socket.emit('agent.run', { name: 'echo', input: 'missed' })
    await eventually(() => expect(sent()).toBe(1))
    await breakOff(socket)
    await eventually(() => expect(answers(client)).toEqual(['first', 'missed']))
  })

  it.each([
    [250, true],
    [300, false],
  ])(
    'of %i, is brought back: %s; if not it is told so, and what is at work is cancelled',
    async (many, isBack) => {
      const { open, counts } = await start({ maxRunsPerSocket: 60 })
      const socket = open()
      const client = clientOf(socket)
      await play(client, 'agent.run', { name: 'echo', input: 'first' })
      await client.ask('agent.run', { name: 'waiting', input: 'x' })
      const { id } = socket
      const sent = goDeaf(socket)
      for (let run = 0; run < many; run += 50) {
        for (let at = run; at < run + 50; at++) {
          socket.emit('agent.run', { name: 'echo', input: `answer ${at}` })
        }
        await eventually(() => expect(sent()).toBe(run + 50))
      }
      await breakOff(socket)
      expect([socket.recovered, socket.id === id]).toEqual([isBack, isBack])
      if (isBack) await eventually(() => expect(new Set(answers(client)).size).toBe(many + 1))
      else await eventually(() => expect(counts.stopped).toBe(1))
    },
  )
})

/** A state that throws where a member of its transactions is called for this collection or log. */
function breaking(
  member: 'put' | 'read',
  isMeant: (name: string) => boolean,
  failure: Error = new Error('the disk is gone'),
): State {
  const state = memoryState()
  const { store } = state
  const get = (tx: Transaction, name: string | symbol) => {
    const value = Reflect.get(tx, name)
    if (name !== member) return typeof value === 'function' ? value.bind(tx) : value
    return (...args: [string, never, never]) => {
      if (isMeant(args[0])) throw failure
      return value.apply(tx, args)
    }
  }
  const write: Store['write'] = work => store.write(tx => work(new Proxy(tx, { get })))
  const look: Store['read'] = work => store.read(tx => work(new Proxy(tx, { get } as never)))
  return { ...state, store: Object.create(store, { write: { value: write }, read: { value: look } }) }
}

describe('a store that breaks', () => {
  it('where a socket’s run is written down: the client is told, and the run is stopped', async () => {
    const { open, counts } = await start(
      {},
      breaking('put', name => name === 'socket'),
    )
    const client = clientOf(open())
    expect(await client.ask('agent.run', { name: 'waiting', input: 'x' })).toMatchObject({
      code: 'internal_error',
    })
    await eventually(() => expect(counts.stopped).toBe(1))
    expect(client.got.map(({ event }) => event)).toEqual(['agent.error'])
  })

  it('where a run is read, for a while: the client notices nothing', async () => {
    let failures = 0
    const { open } = await start(
      {},
      breaking('read', () => ++failures < 3),
    )
    const events = await play(clientOf(open()), 'agent.run', { name: 'echo', input: 'kept' })
    expect(events.at(-1)?.event).toBe('agent.done')
    expect(failures).toBeGreaterThanOrEqual(3)
  })

  it('where a run is read, for good: the client is told, and reads it when it comes back', async () => {
    let isBroken = true
    const { open } = await start(
      {},
      breaking('read', () => isBroken, new TypeError('a mistake')),
    )
    const socket = open()
    const client = clientOf(socket)
    const events = await play(client, 'agent.run', { name: 'echo', input: 'kept' })
    expect(events.map(({ event, data }) => [event, data.code])).toEqual([['agent.error', 'internal_error']])
    isBroken = false
    await breakOff(socket)
    expect(socket.recovered).toBe(true)
    await eventually(() => expect(answers(client)).toEqual([undefined, 'kept']))
  })
})
