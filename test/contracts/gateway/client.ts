/** Talks to the gateway with the stock client, and with a plain WebSocket. */
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../eventually.ts'
import type { Deployment } from '../runs/client.ts'

export type Server = () => Deployment

export type Options = Partial<ManagerOptions & SocketOptions>

/** The ways in which the stock client connects. */
export const WAYS: readonly [name: string, options: Options][] = [
  ['with its default options', {}],
  ['with WebSocket only', { transports: ['websocket'] }],
  ['with polling only', { transports: ['polling'] }],
]

/** The server's answer to an event that starts a run. */
export type Answer = { readonly runId: string } | { readonly error: string; readonly code: string }

/** An event of the server. */
export interface Got {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A client of the gateway, of any kind. */
export interface Client {
  readonly got: readonly Got[]
  ask(event: string, payload?: unknown): Promise<Answer>
  tell(event: string, payload?: unknown): void
  leave(): void
}

/** Starts a run, and gives its id. */
export async function start(client: Client, event: string, payload: object): Promise<string> {
  const answer = await client.ask(event, payload)
  expect(answer).toEqual({ runId: expect.any(String) })
  return 'runId' in answer ? answer.runId : ''
}

/** The events of a run up to its last one. */
export async function ended(client: Client, runId: string): Promise<Got[]> {
  const own = () => client.got.filter(({ data }) => data.runId === runId)
  const isLast = ({ event }: Got) => event === 'agent.done' || event === 'agent.error'
  await eventually(() => expect(own().some(isLast)).toBe(true))
  expect(own().filter(isLast)).toHaveLength(1)
  return own()
}

/** Starts a run, and gives its events. */
export async function play(client: Client, event: string, payload: object): Promise<Got[]> {
  return ended(client, await start(client, event, payload))
}

/** The structured output of a run. */
export function structuredOf(events: readonly Got[]): Readonly<Record<string, unknown>> {
  return (events.at(-1)?.data.structured ?? {}) as Readonly<Record<string, unknown>>
}

/** The joined text of all chunks. */
export function textOf(events: readonly Got[]): string {
  return events.map(({ event, data }) => (event === 'agent.chunk' ? data.chunk : '')).join('')
}

/** A client that closes at the end of its test. */
export function stock(server: Server, options: Options = {}, nsp = '/service'): Socket {
  const socket = io(server().url + nsp, {
    forceNew: true,
    reconnectionDelay: 10,
    reconnectionDelayMax: 50,
    ...options,
  })
  // As docs/connect/event-socket.md says: else it keeps an event of the turn in which its connection ended, and asks for it again.
  socket.io.on('open', () => {
    socket.receiveBuffer = []
  })
  onTestFinished(() => void socket.disconnect())
  return socket
}

/** A stock client as {@link Client}. */
export function clientOf(socket: Socket): Client {
  const got: Got[] = []
  socket.onAny((event: string, data: Got['data']) => got.push({ event, data }))
  return {
    got,
    ask: (event, payload) => socket.timeout(15_000).emitWithAck(event, payload),
    tell: (event, payload) => void socket.emit(event, payload),
    leave: () => void socket.disconnect(),
  }
}

export function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })
}

/** The error of a refused connection. */
export function refusal(socket: Socket): Promise<{ message: string; data?: unknown }> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => reject(new Error('it is connected')))
    socket.once('connect_error', ({ message, data }: Error & { data?: unknown }) =>
      resolve({ message, ...(data !== undefined && { data }) }),
    )
  })
}

/** A plain WebSocket with its received frames. */
export interface Plain extends Client {
  readonly frames: readonly (Got & { readonly id?: unknown })[]
  send(frame: string | Uint8Array): void
  /** Resolves with the close code. */
  readonly closed: Promise<number>
}

/**
 * Opens a plain WebSocket, from `localAddress` if given. `connect` is the content of the first frame, if there is one.
 * Rejects with the status of a refusal.
 */
export async function plain(
  server: Server,
  {
    connect,
    path = '/socket.io/',
    headers = {},
    localAddress,
  }: { connect?: object; path?: string; headers?: Record<string, string>; localAddress?: string } = {},
): Promise<Plain> {
  const socket = new WebSocket(server().url.replace('http', 'ws') + path, {
    headers,
    ...(localAddress !== undefined && { localAddress }),
  })
  const frames: (Got & { id?: unknown })[] = []
  const got: Got[] = []
  const closed = new Promise<number>(resolve => socket.on('close', resolve))
  socket.on('message', message => {
    const frame = JSON.parse(String(message))
    if (frame.event === 'ping') socket.send('{"event":"pong"}')
    else {
      frames.push(frame)
      if (frame.event !== 'ack') got.push(frame)
    }
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
    socket.on('unexpected-response', (_, response) => reject(new Error(`status ${response.statusCode}`)))
  })
  onTestFinished(() => socket.terminate())
  if (connect !== undefined) socket.send(JSON.stringify({ event: 'connect', data: connect }))
  let asked = 0
  return {
    frames,
    got,
    closed,
    send: frame => socket.send(frame),
    async ask(event, data) {
      const id = ++asked
      socket.send(JSON.stringify({ event, data, id }))
      const answer = () => frames.find(frame => frame.event === 'ack' && frame.id === id)
      await eventually(() => expect(answer()).toBeDefined())
      return answer()?.data as Answer
    },
    tell: (event, data) => socket.send(JSON.stringify({ event, data })),
    leave: () => socket.close(),
  }
}
