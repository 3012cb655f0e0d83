/** Clients of a fleet, which try again until they have an answer. */
import { setTimeout as pause } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { RunEvent, RunRecord } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import type { Fleet } from './fleet.ts'

/** An answer of a server. */
export interface Answered {
  readonly status: number
  readonly body: RunRecord & { readonly code?: string }
}

/** An event as a client read it. */
export interface Line {
  readonly id: number
  /** The event as JSON, as it came. */
  readonly data: string
}

/** What a client has read of a run. */
export interface Reading {
  readonly lines: readonly Line[]
  /** How often it has connected. */
  readonly connections: number
  /** Why it gave up. */
  readonly wrong?: string
}

/** Milliseconds until a client asks again, until it takes a request or a stream for dead, and until it gives up. */
const AGAIN_MS = 200
const LATE_MS = 6000
const SILENT_MS = 8000
const PATIENCE_MS = 300_000

/** Statuses after which the same request is sent again. */
const MAY_PASS = new Set([429, 500, 502, 503, 504])

/** Sends a request until it has an answer that stays, each time to the next process. */
export async function insist(fleet: Fleet, path: string, init?: RequestInit): Promise<Answered> {
  const until = performance.now() + PATIENCE_MS
  let last: unknown
  while (performance.now() < until) {
    try {
      const response = await fetch(`${fleet.url()}${path}`, {
        ...init,
        signal: AbortSignal.timeout(LATE_MS),
      })
      const body = (await response.json()) as Answered['body']
      if (!MAY_PASS.has(response.status)) return { status: response.status, body }
      last = body
    } catch (error) {
      last = error
    }
    await pause(AGAIN_MS)
  }
  throw new Error(`${path} had no answer: ${JSON.stringify(last)} ${last}`)
}

/** Sends a JSON body until it has an answer. */
export function post(
  fleet: Fleet,
  path: string,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Answered> {
  return insist(fleet, path, jsonRequest(body, { prefer: 'respond-async', ...headers }))
}

export const isEnd = ({ data }: Line): boolean => {
  const { type } = JSON.parse(data) as RunEvent
  return type === 'finish' || type === 'error'
}

/** Follows a run to its end. It connects first to a place of the fleet, and then to others. */
export async function follow(fleet: Fleet, id: string, place: number): Promise<Reading> {
  const until = performance.now() + PATIENCE_MS
  const lines: Line[] = []
  for (let connections = 1; performance.now() < until; connections++) {
    const url = connections === 1 ? fleet.url(place) : fleet.url()
    try {
      const after = lines.at(-1)?.id ?? 0
      const status = await readOn(`${url}/api/runs/${id}/stream`, after, lines)
      if (!MAY_PASS.has(status) && status !== 200)
        return { lines, connections, wrong: `${id}: a reader got ${status}` }
    } catch {
      // The server, or the connection to it, has ended.
    }
    const last = lines.at(-1)
    if (last !== undefined && isEnd(last)) return { lines, connections }
    await pause(AGAIN_MS)
  }
  const last = lines.at(-1)
  return { lines, connections: 0, wrong: `${id}: a reader saw no end after ${last?.id} ${last?.data}` }
}

/** Reads a stream while it lasts. Returns its status. */
async function readOn(url: string, after: number, lines: Line[]): Promise<number> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENT_MS)
  try {
    const headers: Record<string, string> = after === 0 ? {} : { 'last-event-id': `${after}` }
    const response = await fetch(url, { headers, signal: silence.signal })
    if (response.status !== 200 || response.body === null) return response.status
    const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>
    for await (const { id, data } of response.body
      .pipeThrough(decoder)
      .pipeThrough(new EventSourceParserStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENT_MS)
      lines.push({ id: Number(id), data })
    }
    return 200
  } finally {
    clearTimeout(timer)
  }
}
