import type { RawSocket } from '../../../../src/http/platform.ts'

/** A WebSocket that records what happens to it. */
export interface RecordedSocket extends RawSocket {
  readonly sent: (string | Uint8Array)[]
  readonly closed: { code: number | undefined; reason: string | undefined }[]
  bufferedAmount?: number
  /** Number of times that its snapshot changed. */
  changes: number
}

/** Makes one. Give a `bufferedAmount` if the runtime reports waiting bytes. */
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
