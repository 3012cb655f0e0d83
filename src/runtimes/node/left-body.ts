/** Ends connections whose request was not read to its end. */

import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

/** Limits of the data that is read and dropped, so that a client that still sends gets the answer. */
const MAX_DROPPED = 16 * 1024 * 1024
const DROP_MS = 5000

/**
 * The responses of a server. Node stops reading a connection as soon as a body is left midway, and would keep it open: the next
 * request on it would wait until the connection times out. So the connection ends after such an answer.
 */
export class LeavingResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  override writeHead(
    status: number,
    text?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const { req, socket } = this
    if (socket !== null && req.readableDidRead && !req.readableEnded) {
      this.shouldKeepAlive = false
      socket.destroySoon = dropRest
    }
    return super.writeHead(status, text as string, headers)
  }
}

/** Ends a connection after the pending writes. Node alone would reset it, and the client might lose the answer. */
function dropRest(this: Socket): void {
  let left = MAX_DROPPED
  this.removeAllListeners('data').on('data', bytes => {
    left -= bytes.length
    if (left < 0) this.destroy()
  })
  this.resume().end()
  setTimeout(() => this.destroy(), DROP_MS).unref()
}
