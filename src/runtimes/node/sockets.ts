/**
 * WebSockets on Node. The upgrade requests of an HTTP server become requests for the handler. The handler accepts the socket
 * or answers with a response.
 *
 * @module
 */

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import process from 'node:process'
import type { Duplex } from 'node:stream'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { isWebSocket, platform, type RawSocket, type RawSocketHandlers } from '../../http/platform.ts'
import type { Fetch } from '../server.ts'
import { withHost } from './host.ts'

/** The part of an HTTP server that is used. All three kinds of Node's servers have it. */
interface UpgradeSource {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown
}

/** Most bytes of a message if the handlers set no limit. */
const MAX_PAYLOAD = 16 * 1024 * 1024

/** Most bytes that may wait for a client that pings. */
const MAX_PONGS = 1024 * 1024

/** Milliseconds in which a client may end a connection that the server has closed. */
const LEAVE_MS = 1000

const OPEN = 1

/** The close code for a message that is too large (RFC 6455, section 7.4.1). */
const TOO_LARGE = 1009

/**
 * ws reads the frames. This class writes them (RFC 6455, section 5.2): one buffer for each message, and one write for the
 * messages of one turn. Without compression a frame is complete in itself, so both may write to one stream.
 */
class NodeSocket implements RawSocket {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly handlers: RawSocketHandlers
  /** The client sent a message that is too large. */
  isTooLarge = false
  #waiting: Buffer[] | undefined
  #waitingBytes = 0

  constructor(socket: WebSocket, stream: Duplex, handlers: RawSocketHandlers) {
    this.#socket = socket
    this.#stream = stream
    this.handlers = handlers
  }

  get bufferedAmount(): number {
    return this.#stream.writableLength + this.#waitingBytes
  }

  send(data: string | Uint8Array): void {
    if (this.#socket.readyState !== OPEN) return
    const frame = typeof data === 'string' ? textFrame(data) : binaryFrame(data)
    this.#waitingBytes += frame.length
    if (this.#waiting !== undefined) return void this.#waiting.push(frame)
    this.#waiting = [frame]
    process.nextTick(flush, this)
  }

  flush(): void {
    const frames = this.#waiting
    if (frames === undefined) return
    this.#waiting = undefined
    this.#waitingBytes = 0
    if (!this.#stream.writable) return
    if (frames.length === 1) return void this.#stream.write(frames[0])
    this.#stream.cork()
    for (const frame of frames) this.#stream.write(frame)
    this.#stream.uncork()
  }

  close(code?: number, reason?: string): void {
    this.flush()
    this.#socket.close(code, reason)
    this.leave()
  }

  /**
   * Reads no more, and ends the connection soon after all is written. ws alone would read on, and wait 30 s for a client that does
   * not answer. It does so only for one that does not read.
   */
  leave(): void {
    const stream = this.#stream
    if (stream.destroyed) return
    stream.removeAllListeners('data').resume()
    stream.end(() => setTimeout(() => stream.destroy(), LEAVE_MS).unref())
  }
}

function flush(socket: NodeSocket): void {
  socket.flush()
}

/** The first byte of an unfragmented message: text, or bytes. */
const FINAL_TEXT = 0x81
const FINAL_BINARY = 0x82

function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const head = headLength(length)
  const frame = Buffer.allocUnsafe(head + length)
  writeHead(frame, FINAL_TEXT, length)
  frame.write(text, head)
  return frame
}

function binaryFrame(bytes: Uint8Array): Buffer {
  const head = headLength(bytes.length)
  const frame = Buffer.allocUnsafe(head + bytes.length)
  writeHead(frame, FINAL_BINARY, bytes.length)
  frame.set(bytes, head)
  return frame
}

function headLength(length: number): number {
  if (length < 126) return 2
  return length < 65_536 ? 4 : 10
}

function writeHead(frame: Buffer, first: number, length: number): void {
  frame[0] = first
  if (length < 126) frame[1] = length
  else if (length < 65_536) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
}

/** Gives the handler the upgrade requests of a server. `close` ends their connections. */
export function acceptSockets(
  source: UpgradeSource | undefined,
  handler: Fetch,
  waitUntil: (promise: Promise<unknown>) => void,
): { close(): void } {
  const open = new Set<Duplex>()
  const servers = new Map<number, WebSocketServer>()
  function forget(this: Duplex): void {
    open.delete(this)
  }

  source?.on('upgrade', (req, stream, head) => {
    open.add(stream)
    stream.on('error', ignore).once('close', forget)
    const answer = new UpgradeResponse(req, stream, head)
    const request = withHost(new NodeRequest({ req, res: answer }))
    let isUpgraded = false
    const own = platform({
      get ip() {
        return req.socket.remoteAddress
      },
      waitUntil,
      upgrade(handlers: RawSocketHandlers) {
        if (!isWebSocket(req.headers.upgrade) || stream.destroyed) return undefined
        isUpgraded = true
        serverFor(handlers.maxPayload, servers).handleUpgrade(req, stream, answer.leave(), socket =>
          connect(socket, stream, handlers),
        )
        return new Response(null)
      },
    })
    const answered = async () => {
      const response = await handler(request, own)
      if (isUpgraded) return
      answer.begin()
      await sendNodeResponse(answer, response)
    }
    answered().catch(() => stream.destroy())
  })
  return {
    close() {
      for (const stream of open) stream.destroy()
    },
  }
}

/** Most bytes that a client may send before it has an answer. A client of a WebSocket sends none (RFC 6455, section 4.1). */
const MAX_EARLY = 64 * 1024

/**
 * An answer on a connection that Node has detached because of the upgrade request. It ends the connection. To notice a
 * disconnect, the connection must be read. So data before the answer is kept for the WebSocket, and data after it is dropped.
 */
class UpgradeResponse extends ServerResponse {
  readonly #stream: Duplex
  readonly #early: Buffer[]
  #earlyBytes: number
  readonly #take = (bytes: Buffer) => {
    this.#early.push(bytes)
    this.#earlyBytes += bytes.length
    if (this.#earlyBytes > MAX_EARLY) this.#stream.destroy()
  }
  readonly #drained = () => this.emit('drain')

  constructor(req: IncomingMessage, stream: Duplex, head: Buffer) {
    super(req)
    this.#stream = stream
    this.#early = [head]
    this.#earlyBytes = head.length
    this.shouldKeepAlive = false
    // Node's types omit that any stream will do, as for the server itself.
    this.assignSocket(stream as Socket)
    this.once('finish', () => stream.end(() => stream.destroy()))
    stream.on('data', this.#take).on('drain', this.#drained).on('end', endBack)
  }

  /** Leaves the connection to a WebSocket. Returns what its client has sent. */
  leave(): Buffer {
    this.detachSocket(this.#stream as Socket)
    this.#stream.off('data', this.#take).off('drain', this.#drained).off('end', endBack)
    return Buffer.concat(this.#early)
  }

  /** From here on, what the client sends is dropped. */
  begin(): void {
    this.#early.length = 0
    this.#stream.off('data', this.#take).resume()
  }
}

/** A client that ends its side has disconnected, as for Node's own server. */
function endBack(this: Duplex): void {
  this.end()
}

/** ws has the limit of a message on the server, so there is one server for each limit. */
function serverFor(maxPayload = MAX_PAYLOAD, servers: Map<number, WebSocketServer>): WebSocketServer {
  let server = servers.get(maxPayload)
  if (server === undefined) {
    server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // ws would answer pings without a limit.
      autoPong: false,
      maxPayload,
    })
    servers.set(maxPayload, server)
  }
  return server
}

/**
 * The property of a WebSocket that holds its {@link NodeSocket}. All sockets share the same listeners, so an idle socket
 * costs little.
 */
const END = Symbol('servable.end')

interface Connected extends WebSocket {
  [END]: NodeSocket
}

/** Connects a socket to its handlers. It is a function of its own, so that a socket does not keep its request in memory. */
function connect(socket: WebSocket, stream: Duplex, handlers: RawSocketHandlers): void {
  const end = new NodeSocket(socket, stream, handlers)
  ;(socket as Connected)[END] = end
  socket.on('message', onMessage)
  socket.on('ping', onPing)
  socket.on('error', onError)
  socket.on('close', onClose)
  handlers.open(end)
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  // With the default `binaryType` the data is one buffer, unlike the type says.
  const bytes = data as Buffer
  const end = (this as Connected)[END]
  end.handlers.message(end, isBinary ? bytes : bytes.toString())
}

/** Answers a ping (RFC 6455, section 5.5.2), unless so much data waits that the client cannot have read the last answers. */
function onPing(this: WebSocket, data: Buffer): void {
  if ((this as Connected)[END].bufferedAmount < MAX_PONGS) this.pong(data)
}

/** ws has sent its closing frame. */
function onError(this: WebSocket, { code }: Error & { readonly code?: string }): void {
  const end = (this as Connected)[END]
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') end.isTooLarge = true
  end.leave()
}

function onClose(this: WebSocket, code: number, reason: Buffer): void {
  const end = (this as Connected)[END]
  // ws reports the reason only to the client.
  end.handlers.close(end, end.isTooLarge ? TOO_LARGE : code, reason.toString())
}

function ignore(): void {}
