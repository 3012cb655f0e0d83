/** The contract with the unmodified stock client. */

import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Server } from './client.ts'

type Options = Partial<ManagerOptions & SocketOptions>

/** The ways to connect, each with the transport that results. */
const WAYS: readonly [name: string, options: Options, path: string, transport: string][] = [
  ['with its default options', {}, '/socket.io/', 'websocket'],
  ['with WebSocket only', { transports: ['websocket'] }, '/socket.io/', 'websocket'],
  ['with polling only', { transports: ['polling'] }, '/socket.io/', 'polling'],
  ['where the runtime offers no upgrade', {}, '/bare/socket.io/', 'polling'],
]

/** A client that closes at the end of its test. */
function client(server: Server, options: Options, nsp = ''): Socket {
  const socket = io(server().url + nsp, { forceNew: true, ...options })
  onTestFinished(() => void socket.disconnect())
  return socket
}

function once(socket: Socket, event: string): Promise<unknown[]> {
  return new Promise(resolve => socket.once(event, (...args: unknown[]) => resolve(args)))
}

export function stockCases(server: Server): void {
  describe.each(WAYS)('%s', (_, way, path, transport) => {
    const open = (nsp = '', options: Options = {}) => client(server, { ...way, path, ...options }, nsp)

    it('connects with `auth`, and ends up on the best transport', async () => {
      const socket = open('', { auth: { token: '123' } })
      expect(await once(socket, 'auth')).toEqual([{ token: '123' }])
      expect(socket.connected).toBe(true)
      await eventually(() => expect(socket.io.engine.transport.name).toBe(transport))
      expect(await socket.emitWithAck('message-with-ack', 'on')).toBe('on')
    })

    it('is refused with a message and data', async () => {
      const socket = open('/guarded', { auth: { token: 'bad' } })
      const [error] = await once(socket, 'connect_error')
      expect(error).toMatchObject({ message: 'Not you', data: { hint: 'ask for a token' } })
      socket.auth = { token: 'good' }
      socket.connect()
      expect(await socket.emitWithAck('who')).toEqual({ user: 'ann' })
    })

    it('is told that a namespace is not there', async () => {
      const [error] = await once(open('/random'), 'connect_error')
      expect(error).toMatchObject({ message: 'Invalid namespace' })
    })

    it('sends and gets events in order while its transport changes', async () => {
      const socket = open()
      const got: unknown[] = []
      socket.on('message-back', value => got.push(value))
      const sent = Array.from({ length: 200 }, (_item, i) => i)
      for (const value of sent) {
        socket.emit('message', value)
        if (value % 10 === 0) await socket.emitWithAck('message-with-ack')
      }
      await eventually(() => expect(got).toHaveLength(200))
      expect(got).toEqual(sent)
    })

    it('gets answers, and is asked', async () => {
      const socket = open()
      socket.on('question', (value, answer) => answer(value * 2, 'yes'))
      expect(await socket.emitWithAck('ask', 21)).toEqual([42, 'yes'])
    })

    it('sends and gets bytes', async () => {
      const socket = open()
      const back = once(socket, 'message-back')
      socket.emit('message', Buffer.from([1, 2]), { deep: [Buffer.from([3])] })
      expect(await back).toEqual([Buffer.from([1, 2]), { deep: [Buffer.from([3])] }])
      expect(await socket.emitWithAck('message-with-ack', Buffer.from([4]))).toEqual(Buffer.from([4]))
    })

    it('sends and gets bytes as base64, where it has no binary frames', async () => {
      const socket = open('', { forceBase64: true })
      const bytes = Buffer.from([0, 255, 128, 10])
      expect(await socket.emitWithAck('message-with-ack', { deep: [bytes] })).toEqual({ deep: [bytes] })
      await eventually(() => expect(socket.io.engine.transport.name).toBe(transport))
      const frames: unknown[] = []
      socket.io.engine.on('packet', ({ data }) => frames.push(data))
      const raw = (
        socket.io.engine.transport as { ws?: { on(event: 'message', on: (...got: unknown[]) => void): void } }
      ).ws
      raw?.on('message', (_data, isBinary) => frames.push(isBinary ? 'a binary frame' : 'text'))
      const back = once(socket, 'message-back')
      socket.emit('message', bytes, new Uint8Array())
      expect(await back).toEqual([bytes, Buffer.from([])])
      expect(frames).not.toContain('a binary frame')
    })

    it('has two namespaces on one connection', async () => {
      const main = open()
      const custom = main.io.socket('/custom', { auth: { token: 'abc' } })
      expect(await once(custom.connect(), 'auth')).toEqual([{ token: 'abc' }])
      custom.disconnect()
      expect(await main.emitWithAck('message-with-ack', 'still here')).toBe('still here')
    })

    it('learns that the server sent it away', async () => {
      const socket = open()
      const gone = once(socket, 'disconnect')
      socket.emit('leave')
      expect((await gone)[0]).toBe('io server disconnect')
    })
  })

  describe.each(WAYS.slice(0, 3))('recovers %s', (_, way) => {
    const open = () =>
      client(server, { ...way, path: '/recovery/', reconnectionDelay: 10, reconnectionDelayMax: 20 })

    it('what it missed, and nothing twice', async () => {
      const socket = open()
      const got: unknown[] = []
      socket.on('count', value => got.push(value))
      // Else it keeps an event of the turn in which its connection ended, and asks for it again.
      socket.io.on('open', () => {
        socket.receiveBuffer = []
      })
      await once(socket, 'connect')
      const { id } = socket
      socket.emit('count', 100)
      for (const after of [10, 30, 60]) {
        await vi.waitFor(() => expect(got.length).toBeGreaterThan(after), { interval: 1 })
        const back = once(socket, 'connect')
        socket.io.engine.close()
        await back
        expect([socket.recovered, socket.id]).toEqual([true, id])
      }
      await eventually(() => expect(got.length).toBeGreaterThanOrEqual(100))
      expect(got).toEqual(Array.from({ length: 100 }, (_item, i) => i + 1))
    })

    it('nothing, where it was cut off for sending too much', async () => {
      const socket = open()
      await once(socket, 'connect')
      const { id } = socket
      const back = once(socket, 'connect')
      socket.emit('count', 'x'.repeat(1_000_000))
      await back
      expect(socket.recovered).toBe(false)
      await eventually(async () => expect(await socket.emitWithAck('departed', id)).toBe(true))
    })

    it('or starts anew where it missed too much', async () => {
      const [socket, witness] = [open(), open()]
      await once(socket, 'connect')
      const { id } = socket
      await socket.emitWithAck('fill')
      socket.io.reconnection(false)
      socket.io.engine.close()
      await eventually(async () => expect(await witness.emitWithAck('filled', id)).toBe(true))
      socket.connect()
      await once(socket, 'connect')
      expect([socket.recovered, socket.id === id]).toEqual([false, false])
      expect(await witness.emitWithAck('departed', id)).toBe(true)
    })

    it('bytes too', async () => {
      const socket = open()
      await once(socket, 'connect')
      const bytes = once(socket, 'binary')
      socket.emit('binary')
      expect((await bytes)[0]).toEqual(Buffer.from([1, 2, 3]))
    })
  })
}
