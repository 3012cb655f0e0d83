/** The WebSocket of the Web standard, as Deno and Workers have it on the server's side too. */

import type { RawSocket, RawSocketHandlers } from '../http/platform.ts'

/** The part of it that is used. Restated: Workers' own type has no `onmessage`. */
export interface StandardSocket {
  binaryType: string
  readonly readyState: number
  /** Workers do not say. */
  readonly bufferedAmount?: number
  send(data: string | Uint8Array): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: SocketEvent) => void): void
}

/** What its events have, each some of it. */
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
      // It broke in between; its close is to follow.
    }
  }

  close(code?: number, reason?: string): void {
    try {
      this.#socket.close(code, reason)
    } catch {
      // Closed before, or a code that the runtime wants to keep for itself.
      closeQuietly(this.#socket)
    }
  }
}

/** Tells the handlers of a socket that is open. */
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
    // Workers: the closing handshake is not answered by itself (RFC 6455, section 7.1.1).
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
