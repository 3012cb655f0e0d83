/** What a function URL does: it makes an event of a request, and a response of what the function streams. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { HttpEvent } from '../../../src/runtimes/lambda/event.ts'
import type { Head } from '../../../src/runtimes/lambda/result.ts'

/** Types of bodies that are in an event as they are; all others are in base64. */
const TEXT = /^(?:text\/|application\/(?:json|javascript|xml)|.*\+(?:json|xml))/

/** The event of a request, in payload format 2.0. */
export async function eventOf(request: IncomingMessage): Promise<HttpEvent> {
  const { method = 'GET', url = '/', headersDistinct, socket } = request
  const { cookie: cookies, ...fields } = headersDistinct
  const body = await buffer(request)
  const isText = TEXT.test(request.headers['content-type'] ?? '')
  const at = url.indexOf('?')
  return {
    version: '2.0',
    rawPath: at === -1 ? url : url.slice(0, at),
    rawQueryString: at === -1 ? '' : url.slice(at + 1),
    ...(cookies && { cookies: cookies.flatMap(each => each.split('; ')) }),
    headers: Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, values?.join(',')])),
    requestContext: {
      domainName: 'abcdefgh.lambda-url.eu-north-1.on.aws',
      http: { method, sourceIp: socket.remoteAddress ?? '' },
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }),
  } as HttpEvent
}

/** Bytes between the head and the body. */
const DELIMITER = Buffer.alloc(8)

/** Reads what a function streams, and writes it as the response. */
export function responder(response: ServerResponse): { write(bytes: Uint8Array): boolean; end(): void } {
  let waiting: Buffer | undefined = Buffer.alloc(0)
  return {
    write(bytes) {
      if (waiting === undefined) return response.write(bytes)
      waiting = Buffer.concat([waiting, bytes])
      const at = waiting.indexOf(DELIMITER)
      if (at === -1) return true
      const { statusCode, headers, cookies } = JSON.parse(waiting.toString('utf8', 0, at)) as Head
      const rest = waiting.subarray(at + DELIMITER.length)
      waiting = undefined
      response.writeHead(statusCode, {
        ...headers,
        ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
      })
      response.flushHeaders()
      return rest.length === 0 || response.write(rest)
    },
    end() {
      if (waiting !== undefined) response.writeHead(502)
      response.end()
    },
  }
}
