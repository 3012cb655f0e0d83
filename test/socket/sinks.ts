import type { RawSocket } from '../../src/http/platform.ts'

/** A WebSocket that writes down what becomes of it. */
export interface RecordedSocket extends RawSocket {
  readonly sent: (string | Uint8Array)[]
  readonly closed: { code: number | undefined; reason: string | undefined }[]
  bufferedAmount?: number
  /** How often it was told that its snapshot has changed. */
  changes: number
}

/** Makes one. Give a `bufferedAmount` where the runtime is to say what waits. */
export function recordedSocket(bufferedAmount?: number): RecordedSocket {
  const socket: RecordedSocket = {
    sent: [],
    closed: [],
    changes: 0,
    changed: () => void socket.changes++,
    send: data => void socket.sent.push(data),
    close: (code, reason) => void socket.closed.push({ code, reason }),
  }
  if (bufferedAmount !== undefined) socket.bufferedAmount = bufferedAmount
  return socket
}
