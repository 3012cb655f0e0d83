/** Open streams: their memory, the pieces that reach them, and what becomes of their agents when the clients leave. */

import { connect, type Socket } from 'node:net'
import { Connection } from '../connection.ts'
import { median } from '../measure.ts'
import { HOLD, INPUT, SAY, STOPPED } from './echo.ts'
import { Server } from './server.ts'
import { type Ask, bytesOf, type Peer } from './who.ts'

/** So many streams are opened at a time. */
const BATCH = 50
/** So many pieces are said to the streams in all: each to every one. */
const PIECES_SAID = 10_000
/** Milliseconds without any news after which the rest is taken as missing. */
const PATIENCE_MS = 60_000

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A stream whose agent waits. */
class OpenStream {
  readonly #socket: Socket
  #tail = ''
  #pieces = 0
  #last = 0

  constructor(url: string, request: string, mark: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname, () => this.#socket.write(request))
    this.#socket.setEncoding('latin1').on('data', text => {
      const unread = this.#tail + text
      this.#pieces += unread.split(mark).length - 1
      this.#tail = unread.slice(1 - mark.length)
      this.#last = performance.now()
    })
    // A stream that could not be opened has no pieces.
    this.#socket.on('error', () => {})
  }

  get pieces(): number {
    return this.#pieces
  }

  /** When the last bytes came. */
  get lastAt(): number {
    return this.#last
  }

  leave(): void {
    this.#socket.destroy()
  }
}

/** Waits until `count` says `goal`, or does not rise any more. Gives its last value. */
async function reaches(goal: number, count: () => number): Promise<number> {
  let [seen, since] = [count(), performance.now()]
  while (seen < goal && performance.now() - since < PATIENCE_MS) {
    await sleep(20)
    const now = count()
    if (now > seen) [seen, since] = [now, performance.now()]
  }
  return Math.min(seen, goal)
}

/** What one server did with many open streams. Memory is in kilobytes. */
export interface Held {
  /** Resident after some load, before the first stream. */
  readonly before: number
  /** The streams that gave their first piece. */
  readonly opened: number
  /** The growth for each. */
  readonly perStream: number
  /** The part of the pieces said to all that arrived. */
  readonly arrived: number
  /** Microseconds of the server's CPU for each piece. */
  readonly pieceCpu: number
  /** Milliseconds until the last stream had its piece. */
  readonly pieceMs: number
  /** The agents that were stopped when all clients left at once. */
  readonly stopped: number
  /** Milliseconds until the last one was. */
  readonly stoppedMs: number
  /** Milliseconds that a run took which was asked for as they left. `NaN`: its connection was reset. */
  readonly meanwhileMs: number
  /** What was not given back, for each stream. */
  readonly kept: number
}

/** Opens so many streams on a server of their own, says pieces to all, and leaves them all at once. */
export async function hold(peer: Peer, held: Ask, count: number): Promise<Held> {
  // LangGraph's server has a worker for each run at a time.
  const server = await Server.open(peer, { env: { WORKERS: String(count + 10) } })
  const streams: OpenStream[] = []
  try {
    await server.runs(1000)
    await server.streams(1000)
    const before = await server.resident()
    while (streams.length < count) {
      const requests = Array.from({ length: BATCH }, () => bytesOf(server.url, held, HOLD))
      const batch = requests.map(request => new OpenStream(server.url, request, peer.mark))
      streams.push(...batch)
      if ((await reaches(BATCH, () => ofThose(batch, 1))) < BATCH) break
    }
    const opened = ofThose(streams, 1)
    const perStream = ((await server.resident()) - before) / opened
    const said = await sayToAll(server, streams)
    const left = await leaveAll(server, streams)
    return {
      ...{ before, opened, perStream, ...said, ...left },
      kept: ((await server.resident()) - before) / opened,
    }
  } finally {
    for (const stream of streams) stream.leave()
    await server.stop()
  }
}

const ofThose = (streams: readonly OpenStream[], pieces: number) =>
  streams.filter(stream => stream.pieces >= pieces).length

async function sayToAll(server: Server, streams: readonly OpenStream[]) {
  const opened = ofThose(streams, 1)
  const times: number[] = []
  const cpuBefore = await server.cpu()
  let arrived = 0
  while (times.length * opened < PIECES_SAID) {
    const startedAt = performance.now()
    await ask(server, SAY).catch(() => {})
    arrived += await reaches(opened, () => ofThose(streams, times.length + 2))
    times.push(Math.max(...streams.map(({ lastAt }) => lastAt)) - startedAt)
  }
  const said = opened * times.length
  return {
    arrived: arrived / said,
    pieceCpu: (((await server.cpu()) - cpuBefore) * 1e6) / said,
    pieceMs: median(times),
  }
}

async function leaveAll(server: Server, streams: readonly OpenStream[]) {
  const opened = ofThose(streams, 1)
  let lastAt = performance.now()
  const startedAt = lastAt
  for (const stream of streams) stream.leave()
  const meanwhile = ask(server, INPUT).then(
    () => performance.now() - startedAt,
    () => Number.NaN,
  )
  let seen = 0
  const stopped = await reaches(opened, () => {
    const now = stopsOf(server)
    if (now > seen) [seen, lastAt] = [now, performance.now()]
    return now
  })
  return { stopped, stoppedMs: lastAt - startedAt, meanwhileMs: await meanwhile }
}

/** A run, on a connection of its own: servers close those that were silent for some seconds. */
async function ask(server: Server, input: string): Promise<void> {
  const connection = await Connection.open(server.url)
  const { text } = await connection.send(bytesOf(server.url, server.peer.run, input))
  connection.close()
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(`${server.peer.name}: ${text.slice(0, 2000)}`)
}

const stopsOf = (server: Server) => server.log().split(STOPPED).length - 1

/** Whether the agent of a run is stopped when its client leaves before the answer. */
export async function hearsRunLeave(peer: Peer): Promise<boolean> {
  const server = await Server.open(peer)
  try {
    await server.runs(100)
    const socket = new OpenStream(server.url, bytesOf(server.url, peer.run, HOLD), peer.mark)
    await sleep(2000)
    const before = stopsOf(server)
    socket.leave()
    return (await reaches(before + 1, () => stopsOf(server))) > before
  } finally {
    await server.stop()
  }
}
