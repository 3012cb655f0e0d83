/**
 * HTTP long-polling. A `GET` waits for packets, and a `POST` sends packets (Engine.IO, "HTTP long-polling").
 *
 * @module
 */

import { isServableError } from '../../../../base/errors.ts'
import { readText } from '../../../../web/body.ts'
import { decodePayload, encodePayload, type Frame } from './packet.ts'
import { refuse } from './refusal.ts'
import type { EngineSession } from './session.ts'
import type { PollSink } from './session-contracts.ts'

const HEADERS = { 'content-type': 'text/plain; charset=UTF-8', 'cache-control': 'no-store' }

const encoder = new TextEncoder()

/** Answers a `GET`: with the waiting packets, or once there is one. */
export function poll(session: EngineSession): Response | Promise<Response> {
  if (session.hasPoll) {
    session.end('parse error')
    return refuse('badRequest')
  }
  const payload = session.takePayload()
  if (payload !== undefined) return payloadResponse(payload)
  return session.attempt?.isProbed ? holdPoll(session) : streamPoll(session)
}

/** Answers a `POST` with `ok` after its packets are handled. */
export async function post(session: EngineSession, request: Request, maxPayload: number): Promise<Response> {
  if (session.isPosting) {
    session.end('parse error')
    return refuse('badRequest')
  }
  session.isPosting = true
  const body = await readText(request, maxPayload).catch(wasTooLarge)
  session.isPosting = false
  if (typeof body !== 'string') {
    session.end(body.isTooLarge ? 'payload too large' : 'transport close')
    return refuse(body.isTooLarge ? 'tooLarge' : 'badRequest')
  }
  return receiveAll(session, decodePayload(body))
    ? new Response('ok', { headers: HEADERS })
    : refuse('badRequest')
}

/** A response whose body is one payload. */
export function payloadResponse(payload: string): Response {
  return new Response(payload, { headers: HEADERS })
}

/** The response that opens a session. */
export function openResponse(frame: Frame): Response {
  return payloadResponse(encodePayload([frame]))
}

function wasTooLarge(error: unknown): { readonly isTooLarge: boolean } {
  return { isTooLarge: isServableError(error) && error.code === 'body_too_large' }
}

/** Passes the frames to the session. Returns false if one of them is invalid or the session is not open. */
function receiveAll(session: EngineSession, frames: readonly Frame[] | undefined): boolean {
  if (!session.isOpen) return false
  if (frames === undefined) {
    session.end('parse error')
    return false
  }
  for (const frame of frames) session.receive(frame)
  return session.endedBy !== 'parse error' && session.endedBy !== 'payload too large'
}

/**
 * A poll whose head is sent before its body. On some runtimes only this shows that the client has left (workerd reports
 * nothing before the head).
 */
function streamPoll(session: EngineSession): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      waitFor(session, payload => {
        try {
          if (payload !== undefined) controller.enqueue(encoder.encode(payload))
          controller.close()
        } catch {
          // The client has left, and `cancel` is about to be called. The payload is lost.
          session.end('transport close')
        }
      })
    },
    cancel: () => session.end('transport close'),
  })
  return new Response(body, { headers: HEADERS })
}

/** A poll during an upgrade. It is answered with `noop` soon, or refused once the session has moved. */
function holdPoll(session: EngineSession): Promise<Response> {
  return new Promise(resolve => {
    waitFor(session, payload =>
      resolve(payload === undefined ? refuse('badRequest') : payloadResponse(payload)),
    )
  })
}

function waitFor(session: EngineSession, end: PollSink['end']): void {
  const sink: PollSink = {
    // Packets that are sent in the same turn go into one payload.
    ready: () => queueMicrotask(() => session.drain(sink)),
    end,
  }
  session.waitWith(sink)
}
