/** Speaks the two protocols by hand, one frame at a time. */
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Runtime } from '../../runtimes/harness.ts'
import { askForSocket } from '../http/client.ts'

export type Server = () => Runtime

/** The opening data of a session. */
export interface Opened {
  readonly sid: string
  readonly upgrades: readonly string[]
  readonly pingInterval: number
  readonly pingTimeout: number
  readonly maxPayload: number
}

/** A WebSocket whose frames are read one by one. */
export interface Wire {
  send(frame: string | Uint8Array): void
  /** The next frame. Bytes are a list of numbers. Rejects if the socket closes first. */
  next(): Promise<string | number[]>
  /** Resolves with the close code. */
  readonly closed: Promise<number>
  close(): void
  /** Stops reading bytes, like a client that hangs. */
  pause(): void
}

/** Opens a WebSocket. Rejects with the status of a refusal. */
export async function wire(server: Server, path: string): Promise<Wire> {
  const socket = new WebSocket(server().url.replace('http', 'ws') + path)
  const frames: (string | number[])[] = []
  const waiting: PromiseWithResolvers<string | number[]>[] = []
  const closed = Promise.withResolvers<number>()
  socket.on('message', (data: Buffer, isBinary) => {
    const frame = isBinary ? [...data] : data.toString()
    const next = waiting.shift()
    if (next === undefined) frames.push(frame)
    else next.resolve(frame)
  })
  socket.on('close', code => {
    closed.resolve(code)
    for (const next of waiting) next.reject(new Error(`closed with ${code}`))
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', error => reject(error))
    socket.on('unexpected-response', (_, response) => reject(new Error(`status ${response.statusCode}`)))
  })
  return {
    send: frame => socket.send(frame),
    next() {
      const frame = frames.shift()
      if (frame !== undefined) return Promise.resolve(frame)
      const next = Promise.withResolvers<string | number[]>()
      waiting.push(next)
      return next.promise
    },
    closed: closed.promise,
    close: () => socket.close(),
    pause: () => socket.pause(),
  }
}

/** A client that answers no closing frame, and keeps its connection. */
export interface Stubborn {
  /** Whether the server has ended the connection: it takes no more. */
  readonly isEnded: boolean
  /** Whether these bytes of the server have come, in latin1. */
  has(bytes: string): boolean
  /** Sends a frame of the client. With `isOpen`, the message has more fragments. */
  send(text: string, isOpen?: boolean): void
  leave(): void
}

/** Opens a WebSocket by hand. */
export function stubborn(server: Server, path: string): Stubborn {
  const { socket, text: received } = askForSocket(server, path)
  return {
    get isEnded() {
      return socket.destroyed
    },
    has: bytes => received().includes(bytes),
    send(text, isOpen = false) {
      const bytes = Buffer.from(text)
      const head = Buffer.from([isOpen ? 0x01 : 0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0])
      head.writeUInt16BE(bytes.length, 2)
      socket.write(Buffer.concat([head, bytes]))
    },
    leave: () => socket.destroy(),
  }
}

/** Opens a session over WebSocket, and reads its first packet. */
export async function openWire(server: Server, path: string, query = ''): Promise<Wire & Opened> {
  const opened = await wire(server, `/${path}/?EIO=4&transport=websocket${query}`)
  return { ...opened, ...openPacket(String(await opened.next())) }
}

/** Reads the packet that opens a session. */
export function openPacket(packet: string): Opened {
  expect(packet.charAt(0)).toBe('0')
  return JSON.parse(packet.slice(1))
}

/** A session on polling. */
export interface Polled extends Opened {
  readonly url: string
  get(): Promise<Response>
  /** The body of a poll. */
  read(): Promise<string>
  post(body: string | Uint8Array<ArrayBuffer>): Promise<Response>
}

/** Opens a session on polling. */
export async function openPolling(server: Server, path: string): Promise<Polled> {
  const base = `${server().url}/${path}/?EIO=4&transport=polling`
  const response = await fetch(base)
  expect(response.status).toBe(200)
  const opened = openPacket(await response.text())
  const url = `${base}&sid=${opened.sid}`
  const get = () => fetch(url)
  return {
    ...opened,
    url,
    get,
    async read() {
      const answer = await get()
      expect(answer.status).toBe(200)
      return answer.text()
    },
    post: body => fetch(url, { method: 'POST', body }),
  }
}

/** Waits until the server has forgotten the session. */
export async function expectGone(polled: Polled): Promise<void> {
  await vi.waitFor(async () => expect(await errorOf(await polled.get())).toEqual([400, 1]), {
    timeout: 10_000,
  })
}

/** The status and the code of a refusal. */
export async function errorOf(response: Response): Promise<[status: number, code: unknown]> {
  const text = await response.text()
  if (response.status === 200) return [200, text]
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const { code, message } = JSON.parse(text)
  expect(typeof message).toBe('string')
  return [response.status, code]
}
