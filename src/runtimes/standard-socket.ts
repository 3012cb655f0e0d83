/** The Web standard's WebSocket, which Deno and Workers also have on the server. */

import type { RawSocket, RawSocketHandlers } from '../http/platform.ts'

/** The part of it that is used. It is restated, since Workers' own type has no `onmessage`. */
export interface StandardSocket {
  binaryType: string
  readonly readyState: number
  /** Workers do not have it. */
  readonly bufferedAmount?: number
  send(data: string | Uint8Array): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: SocketEvent) => void): void
}

/** The members of its events. Each event has some of them. */
interface SocketEvent {
  readonly data?: unknown
  readonly code?: number
  readonly reason?: string
}

const OPEN = 1

class StandardRawSocket implements RawSocket {
  readonly #socket: StandardSocket

  constructor(socket: StandardSocket) {
    this.#socket = socket
  }

  get bufferedAmount(): number | undefined {
    return this.#socket.bufferedAmount
  }

  send(data: string | Uint8Array): void {
    if (this.#socket.readyState !== OPEN) return
    try {
      this.#socket.send(data)
    } catch {
      // The connection broke in between. Its close event follows.
    }
  }

  close(code?: number, reason?: string): void {
    try {
      this.#socket.close(code, reason)
    } catch {
      // It is closed already, or the runtime reserves the code.
      closeQuietly(this.#socket)
    }
  }
}

/** Forwards the events of an open socket to its handlers. */
export function connect(socket: StandardSocket, handlers: RawSocketHandlers): void {
  const raw = new StandardRawSocket(socket)
  let isOver = false
  const over = (code: number, reason: string) => {
    if (isOver) return
    isOver = true
    handlers.close(raw, code, reason)
  }
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) => {
    handlers.message(raw, typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))
  })
  socket.addEventListener('close', ({ code = 1006, reason = '' }) => {
    // Workers do not answer the closing handshake by themselves (RFC 6455, section 7.1.1).
    closeQuietly(socket)
    over(code, reason)
  })
  socket.addEventListener('error', () => {
    closeQuietly(socket)
    over(1006, '')
  })
  handlers.open(raw)
}

function closeQuietly(socket: StandardSocket): void {
  try {
    socket.close()
  } catch {
    // It was closed already.
  }
}
