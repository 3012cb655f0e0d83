/** A keep-alive connection that costs its own process little: the bytes of a request are made in advance. */

import { connect, type Socket } from 'node:net'

/** The answer to a request. */
export interface Reply {
  /** Head and body, unchanged. */
  readonly text: string
  /** Milliseconds until the first event of a stream. */
  readonly firstEventMs: number
}

interface Waiting {
  readonly startedAt: number
  resolve(reply: Reply): void
  reject(error: Error): void
}

/** A connection with one request at a time. */
export class Connection {
  readonly #socket: Socket
  #waiting: Waiting | undefined
  #text = ''
  #firstEventMs = Number.NaN
  readonly #mark: string

  private constructor(socket: Socket, mark: string) {
    this.#socket = socket
    this.#mark = mark
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('error', error => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection')))
  }

  /** Connects to `http://host:port`. `mark` identifies the first event. */
  static open(url: string, mark = '\ndata: '): Promise<Connection> {
    const { hostname, port } = new URL(url)
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('connect', () => resolve(new Connection(socket, mark)))
    return promise
  }

  /** Sends a request and waits for the whole answer. */
  send(request: string): Promise<Reply> {
    if (this.#socket.destroyed) return Promise.reject(new Error('The connection is closed'))
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    this.#text = ''
    this.#firstEventMs = Number.NaN
    this.#waiting = { startedAt: performance.now(), resolve, reject }
    this.#socket.write(request, 'latin1')
    return promise
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(text: string): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#text += text
    if (Number.isNaN(this.#firstEventMs) && this.#text.includes(this.#mark)) {
      this.#firstEventMs = performance.now() - waiting.startedAt
    }
    if (!isWhole(this.#text)) return
    this.#waiting = undefined
    waiting.resolve({ text: this.#text, firstEventMs: this.#firstEventMs })
  }
}

/** A chunked body ends with an empty chunk. Any other body has a length. The bodies themselves contain no `\r`. */
function isWhole(text: string): boolean {
  if (text.endsWith('\r\n0\r\n\r\n')) return true
  const head = text.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1]
  return head !== -1 && length !== undefined && text.length >= head + 4 + Number(length)
}
