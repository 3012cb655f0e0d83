/** A running server, and its measurements under load. */

import { fileURLToPath } from 'node:url'
import type { Runtime } from '../../test/runtimes/harness.ts'
import { start } from '../../test/runtimes/process.ts'
import { Connection, type Reply } from '../connection.ts'
import { median } from '../measure.ts'
import { cpuOf, residentOf } from '../process.ts'
import { INPUT, PIECES } from './echo.ts'
import { bytesOf, type Peer } from './who.ts'

const CONNECTIONS = 8

/** A load takes no longer than so many times the CPU that it is to use: some servers wait more than they work. */
const LONGEST = 10

/** Servers must not connect to the internet. */
const QUIET = {
  NODE_ENV: 'production',
  MASTRA_TELEMETRY_DISABLED: '1',
  VOLTAGENT_TELEMETRY_DISABLED: '1',
  // Of LangGraph, which logs each request and each run.
  LOG_LEVEL: 'error',
}

const onSignal = new URL('on-signal.ts', import.meta.url).href

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** The result of a load. */
export interface Rate {
  readonly perSecond: number
  readonly perCpuSecond: number
}

/** A peer's process. */
export class Server {
  readonly peer: Peer
  readonly url: string
  readonly #runtime: Pick<Runtime, 'log' | 'stop'>
  readonly #pid: number

  private constructor(peer: Peer, { url, ...runtime }: Pick<Runtime, 'url' | 'log' | 'stop'>, pid: number) {
    this.peer = peer
    this.url = url
    this.#runtime = runtime
    this.#pid = pid
  }

  /** Wraps a server that is already running. */
  static of(peer: Peer, runtime: Runtime): Server {
    return new Server(peer, runtime, runtime.pid)
  }

  static async open(
    peer: Peer,
    {
      flags = [],
      env = {},
    }: { readonly flags?: readonly string[]; readonly env?: Record<string, string> } = {},
  ): Promise<Server> {
    const entry = fileURLToPath(new URL(`../${peer.entry}`, import.meta.url))
    const started = await start({
      command: process.execPath,
      args: [...flags, '--import', onSignal, entry],
      until: /listening (http:\S+)/,
      env: { PORT: '0', ...QUIET, ...env },
      startMs: 60_000,
    })
    const { log, stop, ready } = started
    return new Server(peer, { url: ready[1] ?? '', log, stop }, started.pid)
  }

  log(): string {
    return this.#runtime.log()
  }

  stop(): Promise<void> {
    return this.#runtime.stop()
  }

  /** CPU seconds so far. */
  cpu(): Promise<number> {
    return cpuOf(this.#pid)
  }

  /** Resident kilobytes after a full collection. */
  async resident(): Promise<number> {
    const seen = this.#collections()
    process.kill(this.#pid, 'SIGUSR2')
    while (this.#collections() === seen) await sleep(10)
    await sleep(500)
    return residentOf(this.#pid)
  }

  #collections(): number {
    return this.log().split('collected').length
  }

  /** JSON runs for `ms` of the server's CPU: on a busy machine a time says little of what was done in it. */
  runs(ms: number): Promise<Rate> {
    const { run, answer } = this.peer
    return this.#load(ms, bytesOf(this.url, run, INPUT), text => text.includes(answer))
  }

  streams(ms: number, input: string = INPUT): Promise<Rate> {
    const { stream, mark } = this.peer
    return this.#load(ms, bytesOf(this.url, stream, input), text => text.split(mark).length > PIECES)
  }

  /** Keeps connections busy until the server has used so much CPU, each with one request at a time. */
  async #load(ms: number, request: string, isRight: (text: string) => boolean): Promise<Rate> {
    const connections = await this.#connect(CONNECTIONS)
    const cpuBefore = await this.cpu()
    const startedAt = performance.now()
    let [count, isDone] = [0, false]
    const timer = setInterval(async () => {
      const isLong = performance.now() - startedAt > LONGEST * ms
      isDone ||= isLong || ((await this.cpu()) - cpuBefore) * 1000 >= ms
    }, 20)
    const work = async (connection: Connection) => {
      while (!isDone) {
        const { text } = await connection.send(request)
        // Checking every answer would cost more than the request.
        if (count++ % 50 === 0 && !isRight(text)) throw new Error(`${this.peer.name}: ${text.slice(0, 2000)}`)
      }
    }
    try {
      await Promise.all(connections.map(work))
      const seconds = (performance.now() - startedAt) / 1000
      const cpu = (await this.cpu()) - cpuBefore
      return { perSecond: count / seconds, perCpuSecond: count / cpu }
    } finally {
      clearInterval(timer)
      for (const connection of connections) connection.close()
    }
  }

  /** Milliseconds from a request to the first piece of its stream, the median of `count` requests. */
  async firstPiece(count: number): Promise<number> {
    const [connection] = await this.#connect(1)
    const request = bytesOf(this.url, this.peer.stream, INPUT)
    const times: number[] = []
    for (let i = 0; i < count; i++) times.push((await connection!.send(request)).firstEventMs)
    connection!.close()
    return median(times)
  }

  /** Bytes of a stream's body for each piece, including the chunks' framing. */
  async bytesPerPiece(): Promise<number> {
    const [connection] = await this.#connect(1)
    const { text }: Reply = await connection!.send(bytesOf(this.url, this.peer.stream, INPUT))
    connection!.close()
    return (text.length - text.indexOf('\r\n\r\n') - 4) / PIECES
  }

  #connect(count: number): Promise<Connection[]> {
    return Promise.all(Array.from({ length: count }, () => Connection.open(this.url, this.peer.mark)))
  }
}
