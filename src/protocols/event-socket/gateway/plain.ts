/**
 * The event socket for WebSockets without Socket.IO. Both sides send JSON frames, `{ event, data, id? }`. An event with an
 * `id` is answered by `{ event: "ack", id, data }`. The first event may be `connect`, with the content of Socket.IO's
 * `auth` as its data. Any other first event connects without `auth`. The client has to answer `ping` with `pong`.
 *
 * @module
 */

import { isObject } from '../../../base/validation.ts'
import { parseJson } from '../../../web/json.ts'
import type { Connection } from '../socket/engine/connection.ts'
import type { Ack } from '../socket/io/namespace.ts'
import type { PlainHandlers } from '../socket/io/server.ts'
import type { Peer } from './context.ts'
import { type ClientReception, tooManySockets } from './reception.ts'
import type { GatewaySession } from './session.ts'
import { readSessionData, type SessionData } from './session-data.ts'

/** The ping frame. */
export const PLAIN_PING = '{"event":"ping"}'

/** Most frames that may wait for the admission of their client. */
const MAX_WAITING = 16

interface PlainFrame {
  readonly event: string
  readonly data: unknown
  readonly id: unknown
}

/** A client, from its first frame on. */
interface PlainClient {
  session: GatewaySession | undefined
  /** Undefined until the client is admitted. */
  data: SessionData | undefined
  /** Frames that came before the admission. */
  waiting: PlainFrame[] | undefined
}

/** Makes the handlers of plain connections. */
export function createPlainProtocol(
  reception: ClientReception,
  onError: (error: unknown) => void,
): PlainHandlers {
  const clientOf = (connection: Connection) => connection.context as PlainClient | undefined

  const enter = (connection: Connection, data: SessionData): PlainClient => {
    const session = reception.open(peerOf(connection), data, connection.handshake)
    const client = { session, data, waiting: undefined }
    connection.context = client
    return client
  }

  const join = async (connection: Connection, first: PlainFrame) => {
    const isConnect = first.event === 'connect'
    const joining: PlainClient = { session: undefined, data: undefined, waiting: isConnect ? [] : [first] }
    connection.context = joining
    const handshake = { ...connection.handshake, nsp: '', auth: authIn(first) }
    try {
      const { data } = await reception.admit(handshake)
      if (!connection.isOpen) return
      // A plain client cannot reconnect to its runs. They end with the connection.
      const { private: _, ...own } = data
      if (reception.isFull(own)) throw tooManySockets()
      connection.admit()
      const client = enter(connection, own)
      if (isConnect) connection.send(JSON.stringify({ event: 'connect', data: { sid: connection.id } }))
      deliverAll(connection, client, joining.waiting)
    } catch (thrown) {
      const data = reception.refusal(thrown, handshake)
      connection.send(JSON.stringify({ event: 'connect_error', data }))
      connection.close('connect timeout')
    }
  }

  const deliverAll = (connection: Connection, client: PlainClient, frames: readonly PlainFrame[] = []) => {
    for (const frame of frames) if (connection.isOpen) deliver(connection, client, frame)
  }

  const deliver = (connection: Connection, { session }: PlainClient, { event, data, id }: PlainFrame) => {
    if (event === 'connect') return connection.close('parse error')
    const ack: Ack | undefined =
      id === undefined
        ? undefined
        : answer => connection.send(JSON.stringify({ event: 'ack', id, data: answer }))
    session?.take(event, data, ack).catch(onError)
  }

  return {
    onMessage(connection, message) {
      const frame = typeof message === 'string' ? frameOf(message) : undefined
      if (frame === undefined) return connection.close('parse error')
      const client = clientOf(connection)
      if (frame.event === 'pong') {
        void client?.session?.checkKey(() => connection.close())
        return connection.pong()
      }
      if (client === undefined) return void join(connection, frame)
      if (client.waiting === undefined) return deliver(connection, client, frame)
      if (client.waiting.push(frame) > MAX_WAITING) connection.close('parse error')
    },
    onClose(connection) {
      const session = clientOf(connection)?.session
      if (session !== undefined) reception.close(session, false)
    },
    snapshot: connection => clientOf(connection)?.data,
    restore: (connection, data) => void enter(connection, readSessionData(data)),
  }
}

/** Returns the `auth` in the first frame. */
function authIn({ event, data }: PlainFrame): Readonly<Record<string, unknown>> {
  return event === 'connect' && isObject(data) ? data : {}
}

/** Parses a frame. Returns undefined if it is not valid. */
function frameOf(text: string): PlainFrame | undefined {
  try {
    const { event, data, id } = Object(parseJson(text)) as Record<string, unknown>
    const isId = id === undefined || typeof id === 'number' || (typeof id === 'string' && id.length <= 100)
    return typeof event === 'string' && isId ? { event, data, id } : undefined
  } catch {
    return undefined
  }
}

function peerOf(connection: Connection): Peer {
  return {
    send: (event, data) => connection.send(JSON.stringify({ event, data })),
    get isCongested() {
      return connection.isCongested
    },
    touch: () => connection.touch(),
  }
}
