import { platform, type RawSocketHandlers } from '../../../../src/http/platform.ts'
import type { SocketEndpoint } from '../../../../src/protocols/event-socket/socket/index.ts'
import { type RecordedSocket, recordedSocket } from './sinks.ts'

const BASE = 'http://h/io/?EIO=4'

/** A client of an endpoint without a runtime, with a clock that the test controls. */
export interface Served {
  readonly endpoint: SocketEndpoint
  request(query: string, init?: RequestInit): Promise<Response>
  /** Opens a session over polling and gives its id. */
  poll(): Promise<string>
  /** Opens a WebSocket. `query` names the session to upgrade. */
  socket(query?: string, raw?: RecordedSocket): Promise<OpenSocket>
  /** Advances the clock by milliseconds. */
  pass(ms: number): void
}

/** A WebSocket with both of its ends. */
export interface OpenSocket extends RecordedSocket {
  readonly handlers: RawSocketHandlers
  /** Sends data from the client. */
  says(data: string | Uint8Array): void
}

/** Makes an endpoint with a controlled clock. */
export function serve(
  make: (clock: { now: () => number; ticks: 'caller'; path: string }) => SocketEndpoint,
): Served {
  let time = 1000
  const endpoint = make({ now: () => time, ticks: 'caller', path: '/io/' })
  const request: Served['request'] = async (query, init) =>
    endpoint.fetch(new Request(BASE + query, init), platform({ upgrade: () => undefined }))
  return {
    endpoint,
    request,
    async poll() {
      const response = await request('&transport=polling')
      return JSON.parse((await response.text()).slice(1)).sid
    },
    async socket(query = '', raw = recordedSocket(0)) {
      let handlers: RawSocketHandlers | undefined
      const upgrade = (given: RawSocketHandlers) => {
        handlers = given
        return new Response()
      }
      const init = { headers: { upgrade: 'websocket' } }
      const url = `${BASE}&transport=websocket${query}`
      const response = await endpoint.fetch(new Request(url, init), platform({ upgrade }))
      if (handlers === undefined) throw new Error(`refused: ${await response.text()}`)
      const opened = handlers
      opened.open(raw)
      return Object.assign(raw, {
        handlers: opened,
        says: (data: string | Uint8Array) => opened.message(raw, data),
      })
    },
    pass(ms) {
      time += ms
      endpoint.tick()
    },
  }
}
