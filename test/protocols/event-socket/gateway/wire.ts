import type { RawSocket, RawSocketHandlers } from '../../../../src/http/platform.ts'
import { type Handler, platform } from '../../../../src/index.ts'

/** A WebSocket in this process. */
export class Wire implements RawSocket {
  readonly got: string[] = []
  closed: number | undefined
  handlers: RawSocketHandlers | undefined

  send(data: string | Uint8Array): void {
    this.got.push(String(data))
  }

  close(code = 1000): void {
    if (this.closed !== undefined) return
    this.closed = code
    this.handlers?.close(this, code, '')
  }

  says(frame: string | Uint8Array): void {
    if (this.closed === undefined) this.handlers?.message(this, frame)
  }
}

/** Opens a plain WebSocket. A refused one has no handlers. */
export async function connect(
  handler: Handler,
  { headers = {}, ip }: { headers?: Record<string, string>; ip?: string } = {},
): Promise<Wire> {
  const wire = new Wire()
  const url = 'http://127.0.0.1/socket.io/'
  const request = new Request(url, { headers: { ...headers, upgrade: 'websocket' } })
  await handler(
    request,
    platform({
      ip,
      upgrade: handlers => {
        wire.handlers = handlers
        handlers.open(wire)
        return new Response(null)
      },
    }),
  )
  return wire
}

/** Waits until all pending work is done. */
export const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
