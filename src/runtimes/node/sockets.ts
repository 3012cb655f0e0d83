/**
 * WebSockets on Node: the upgrade requests of an HTTP server become requests for the handler, which takes the socket
 * or refuses it with a response.
 *
 * @module
 */

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import process from 'node:process'
import type { Duplex } from 'node:stream'
import { NodeRequest } from 'srvx/node'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { isWebSocket, platform, type RawSocket, type RawSocketHandlers } from '../../http/platform.ts'
import type { Fetch } from '../server.ts'
import { withHost } from './host.ts'

/** The part of an HTTP server that is used: of Node's three kinds, each. */
interface UpgradeSource {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown
}

/** Bytes of a message where the handlers name no limit. */
const MAX_PAYLOAD = 16 * 1024 * 1024

/** Bytes that may wait for a client that pings. */
const MAX_PONGS = 1024 * 1024

const OPEN = 1

/** The code of a connection that ends with too large a message (RFC 6455, section 7.4.1). */
const TOO_LARGE = 1009

/**
 * ws reads; what is sent is framed here (RFC 6455, section 5.2), into one buffer a message, and what is sent in one go
 * leaves in one write. Without compression a frame is complete in itself, so both may write to one stream.
 */
class NodeSocket implements RawSocket {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly handlers: RawSocketHandlers
  /** All that are open. */
  readonly sockets: Set<WebSocket>
  /** The client has sent more than it may. */
  isTooLarge = false
  #waiting: Buffer[] | undefined
  #waitingBytes = 0

  constructor(socket: WebSocket, stream: Duplex, handlers: RawSocketHandlers, sockets: Set<WebSocket>) {
    this.#socket = socket
    this.#stream = stream
    this.handlers = handlers
    this.sockets = sockets
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
  }
}

function flush(socket: NodeSocket): void {
  socket.flush()
}

/** The final frame of a message, of text and of bytes. */
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

/** Lets the handler have the upgrade requests of a server; `close` ends the sockets that are open. */
export function acceptSockets(
  source: UpgradeSource | undefined,
  handler: Fetch,
  waitUntil: (promise: Promise<unknown>) => void,
): { close(): void } {
  const sockets = new Set<WebSocket>()
  const servers = new Map<number, WebSocketServer>()

  source?.on('upgrade', (req, stream, head) => {
    stream.on('error', ignore)
    let isUpgraded = false
    const request = withHost(new NodeRequest({ req }))
    const own = platform({
      get ip() {
        return req.socket.remoteAddress
      },
      waitUntil,
      upgrade(handlers: RawSocketHandlers) {
        if (!isWebSocket(req.headers.upgrade) || stream.destroyed) return undefined
        isUpgraded = true
        serverFor(handlers.maxPayload, servers).handleUpgrade(req, stream, head, socket =>
          connect(socket, stream, handlers, sockets),
        )
        return new Response(null)
      },
    })
    const refused = async () => {
      const response = await handler(request, own)
      if (!isUpgraded) await writeResponse(stream, response)
    }
    refused().catch(() => stream.destroy())
  })
  return {
    close() {
      for (const socket of sockets) socket.terminate()
    },
  }
}

/** The limit of a message belongs to the server in ws: so there is one for each limit. */
function serverFor(maxPayload = MAX_PAYLOAD, servers: Map<number, WebSocketServer>): WebSocketServer {
  let server = servers.get(maxPayload)
  if (server === undefined) {
    server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // What it answers by itself it answers without bound.
      autoPong: false,
      maxPayload,
    })
    servers.set(maxPayload, server)
  }
  return server
}

/** Where a WebSocket has its {@link NodeSocket}: listeners that are the same for all cost an idle socket nothing. */
const END = Symbol('servable.end')

interface Connected extends WebSocket {
  [END]: NodeSocket
}

/** Apart from what the request needed, so that a socket does not keep its request in memory. */
function connect(
  socket: WebSocket,
  stream: Duplex,
  handlers: RawSocketHandlers,
  sockets: Set<WebSocket>,
): void {
  const end = new NodeSocket(socket, stream, handlers, sockets)
  ;(socket as Connected)[END] = end
  sockets.add(socket)
  socket.on('message', onMessage)
  socket.on('ping', onPing)
  socket.on('error', onError)
  socket.on('close', onClose)
  handlers.open(end)
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  // The default `binaryType` gives one buffer, whatever the type says.
  const bytes = data as Buffer
  const end = (this as Connected)[END]
  end.handlers.message(end, isBinary ? bytes : bytes.toString())
}

/** Answers a ping (RFC 6455, section 5.5.2), unless so much waits for the client that it cannot have read the last answers. */
function onPing(this: WebSocket, data: Buffer): void {
  if ((this as Connected)[END].bufferedAmount < MAX_PONGS) this.pong(data)
}

function onError(this: WebSocket, { code }: Error & { readonly code?: string }): void {
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') (this as Connected)[END].isTooLarge = true
}

function onClose(this: WebSocket, code: number, reason: Buffer): void {
  const end = (this as Connected)[END]
  end.sockets.delete(this)
  // ws itself tells only the client why.
  end.handlers.close(end, end.isTooLarge ? TOO_LARGE : code, reason.toString())
}

/** Refuses an upgrade: nobody but us speaks HTTP on this connection any more (RFC 9112). */
async function writeResponse(stream: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  const head = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`]
  for (const [name, value] of response.headers) {
    if (name !== 'content-length' && name !== 'connection') head.push(`${name}: ${value}`)
  }
  head.push(`content-length: ${body.length}`, 'connection: close', '', '')
  stream.write(head.join('\r\n'))
  // A client that keeps its half open would keep the connection.
  stream.end(body, () => stream.destroy())
}

function ignore(): void {}
