/**
 * One client of the gateway: its events become runs, and their events go to it.
 *
 * @module
 */

import type { Kind, RunEvent } from '../agents/contract.ts'
import { isServableError, isUntold, redact, reportError, ServableError } from '../errors.ts'
import type { Catalog } from '../http/catalog.ts'
import type { KeyReader } from '../http/key-headers.ts'
import type { Identity } from '../http/platform.ts'
import type { Asker, StartRun } from '../http/start-run.ts'
import type { Follower, HostSettings, RunHost } from '../runs/host.ts'
import type { Run } from '../runs/run.ts'
import type { Target } from '../runs/target.ts'
import type { Ack } from '../socket/io/namespace.ts'
import type { GatewayLimits } from './options.ts'
import { asJson, parseCancel, parseRun, type RunPayload, unknownEvent } from './payload.ts'
import { Place, type Seen } from './place.ts'
import type { RateLimit } from './rate-limit.ts'
import type { SocketRecord, SocketRecords } from './records.ts'
import type { SessionData } from './session-data.ts'
import { Teller } from './teller.ts'

/** Takes what was thrown, of which client, and what of it must stand in no log. */
export type OnSocketError = (error: unknown, requestId?: string, secrets?: readonly string[]) => void

/** What all sessions of a gateway share. */
export interface GatewayRoom {
  readonly catalog: Catalog
  readonly runs: HostSettings
  readonly host: RunHost
  readonly readKeys: KeyReader
  readonly startRun: StartRun
  readonly limits: Required<GatewayLimits>
  /** Undefined where clients cannot come back. */
  readonly records: SocketRecords | undefined
  /** Told what goes wrong, beside the runs. */
  readonly onError: OnSocketError
}

/** Where a session's events go. */
export interface Peer {
  send(event: string, payload: object, place: string | undefined): void
  readonly isCongested: boolean
  /** What the session keeps in {@link SessionData} has changed. */
  touch(): void
}

/** The connection of a client. Its sessions share one rate of events. */
export interface SessionConnection {
  readonly ip: string | undefined
  readonly rate: RateLimit
  /** What of the handshake must stand in no log. */
  readonly secrets: () => readonly string[]
}

/** A run that a session tells of. */
interface OpenRun {
  readonly cancel: (() => void) | undefined
  /** Nobody is told of it any more. */
  readonly leave: () => void
}

/** A run whose client is back, and has seen its log up to an entry. */
interface MissedRun {
  readonly n: number
  readonly runId: string
  readonly after: number
}

/** A run that is about to be told. */
interface Begun {
  readonly runId: string
  readonly tell: () => void
}

const KINDS: Readonly<Record<string, Kind>> = {
  'agent.run': 'agent',
  'team.run': 'team',
  'workflow.run': 'workflow',
}

/** Milliseconds between looks at whether a slow client has caught up. */
const CONGESTION_MS = 20

/** See the module's head. */
export class GatewaySession {
  readonly #room: GatewayRoom
  readonly #peer: Peer
  #data: SessionData
  readonly #runs = new Map<string, OpenRun>()
  #place: Place
  readonly #connection: SessionConnection
  /** Runs that have begun, or are about to. */
  #count = 0
  /** Whether the client is gone, and may come back. */
  #left: 'away' | 'gone' | undefined

  constructor(room: GatewayRoom, peer: Peer, data: SessionData, connection: SessionConnection) {
    this.#room = room
    this.#peer = peer
    this.#data = data
    this.#place = new Place(data.private?.id ?? '', data.begun)
    this.#connection = connection
  }

  get identity(): Identity | undefined {
    return this.#data.identity
  }

  /** The client is back, and has said again who it is; gives what is known of it now. */
  renew(data: SessionData): SessionData {
    this.#data = { ...this.#data, ...data }
    return this.#data
  }

  /** Takes an event. What cannot be done is told as `agent.error`, and in the answer where the client wants one. */
  async take(event: string, payload: unknown, ack: Ack | undefined): Promise<void> {
    if (this.#left !== undefined) return
    try {
      if (!this.#connection.rate.take()) throw tooFast(this.#room.limits)
      const begun = await this.#perform(event, payload)
      ack?.({ runId: begun.runId })
      begun.tell()
    } catch (thrown) {
      this.#tellThrown(thrown, keyOf(payload))
      const { code, message } = reportError(thrown, this.#room.runs.production, 'internal_error')
      const error = redact(message, [this.#data.apiKey ?? '', keyOf(payload)])
      ack?.({ error, code })
      this.#peer.send('agent.error', { error, code }, undefined)
    }
  }

  /**
   * Goes on where the client has seen everything: nothing is told twice. Many runs may have ended meanwhile, so they are read
   * some at a time; those still at work are as many as a socket may have, and cannot hold up the others.
   */
  async resume({ id, runs }: SocketRecord, { begun, open }: Seen): Promise<void> {
    const missed = runs.flatMap(([n, runId]) => {
      const after = n > begun ? 0 : open.get(n)
      return after === undefined ? [] : [{ n, runId, after }]
    })
    // A run that nothing was told of yet is none that the client has seen begin: it may be cut off again.
    this.#place = new Place(id, begun)
    for (const { n, runId, after } of missed) {
      if (n <= begun) this.#place.begin(n, after)
      this.#expect(runId)
      this.#count++
    }
    const queue = missed.values()
    const readOn = async () => {
      for (const run of queue) await this.#resumeRun(run)
    }
    const atOnce = Math.min(missed.length, 2 * this.#room.limits.maxRunsPerSocket)
    await Promise.all(Array.from({ length: atOnce }, readOn))
  }

  async #resumeRun({ n, runId, after }: MissedRun): Promise<void> {
    if (this.#left !== undefined) return
    if (n > this.#place.begun) this.#place.begin(n)
    try {
      const tell = await this.#follow(runId, n, after)
      await tell()
    } catch (thrown) {
      // A log that is not kept any more will not be read later either.
      const isOver = isServableError(thrown) && thrown.code === 'run_not_found'
      this.#tellUnread(thrown, runId, isOver ? this.#place.advance(n, after, true) : undefined)
      this.#end(runId)
    }
  }

  /** A run's log cannot be read. Without a place its client may read the rest when it comes back. */
  #tellUnread(thrown: unknown, runId: string, place: string | undefined): void {
    this.#tellThrown(thrown)
    if (this.#left !== undefined) return
    const { code, message } = reportError(thrown, this.#room.runs.production, 'internal_error')
    this.#peer.send('agent.error', { error: message, code, runId }, place)
  }

  /** The connection is gone; `mayReturn` says whether its client may go on with another one. */
  leave(mayReturn: boolean): void {
    this.#left = mayReturn ? 'away' : 'gone'
    for (const { leave } of this.#runs.values()) leave()
    this.#runs.clear()
    if (this.#place.begun > 0) void this.#tellLeft().catch(thrown => this.#tellThrown(thrown))
  }

  /** What the client cannot mend is for the log. */
  #tellThrown(thrown: unknown, key = ''): void {
    if (!isUntold(thrown)) return
    const { apiKey = '', requestId } = this.#data
    this.#room.onError(thrown, requestId, [apiKey, key, ...this.#connection.secrets()])
  }

  async #tellLeft(): Promise<void> {
    const { records } = this.#room
    const { private: own } = this.#data
    if (own === undefined) return
    await (this.#left === 'away'
      ? records?.away(own.pid, own.generation)
      : records?.drop(own.pid, own.generation))
  }

  async #perform(event: string, payload: unknown): Promise<Begun> {
    const kind = Object.hasOwn(KINDS, event) ? KINDS[event] : undefined
    if (kind !== undefined) return this.#run(kind, payload)
    if (event === 'run.cancel') return this.#cancel(parseCancel(payload).runId)
    throw unknownEvent(event)
  }

  async #cancel(runId: string): Promise<Begun> {
    const own = this.#runs.get(runId)
    if (own?.cancel !== undefined) own.cancel()
    else await this.#room.host.cancel(runId, this.#owner)
    return { runId, tell() {} }
  }

  async #run(kind: Kind, payload: unknown): Promise<Begun> {
    const asked = parseRun(payload)
    const target = this.#room.catalog.resolve(kind, asked.name)
    const { maxRunsPerSocket } = this.#room.limits
    if (this.#count >= maxRunsPerSocket) {
      throw new ServableError('too_many_runs', `A socket may have at most ${maxRunsPerSocket} runs at a time`)
    }
    this.#count++
    try {
      return await this.#begin(target, asked, payload)
    } catch (error) {
      this.#count--
      throw error
    }
  }

  async #begin(target: Target, asked: RunPayload, payload: unknown): Promise<Begun> {
    const { input, sessionId, messageId, userId, apiKey = this.#data.apiKey } = asked
    const { background = false, idempotencyKey } = asked
    const { records, runs } = this.#room
    // A client that may come back finds its runs as they are by then.
    const mayReturn = records !== undefined && this.#data.private !== undefined
    const started = await this.#room.startRun(
      {
        target,
        input,
        sessionId,
        messageId,
        userId,
        apiKey,
        isBackground: background || mayReturn,
        key: idempotencyKey ? { key: idempotencyKey, body: bodyOf(payload) } : undefined,
      },
      this.#asker(),
    )
    const { id: runId, isNew, run } = started
    if (run !== undefined) return this.#tellPlain(run)
    // Asked again while it is told already.
    if (this.#runs.has(runId)) return { runId, tell: () => void this.#count-- }
    this.#expect(runId)
    try {
      const n = this.#place.begin()
      // Whoever started a run of a shared key is the one with whom it ends.
      await this.#note(n, runId, !background && runs.disconnect !== 'continue' && isNew)
      return { runId, tell: await this.#follow(runId, n, 0) }
    } catch (error) {
      this.#runs.delete(runId)
      throw error
    }
  }

  /** A run is told from now on, though its log is still to be opened. */
  #expect(runId: string): void {
    this.#runs.set(runId, { cancel: undefined, leave() {} })
  }

  #asker(): Asker {
    const { ip, secrets } = this.#connection
    return {
      owner: this.#owner,
      ip,
      requestId: this.#data.requestId,
      // Who shares nothing was refused when it connected.
      isIsolated: false,
      apiKeys: apiKey => this.#room.readKeys(NO_HEADERS, apiKey),
      credentials: () => [],
      secrets,
    }
  }

  /** Writes down that the socket has this run, so that its client can come back to it. */
  async #note(n: number, runId: string, isBound: boolean): Promise<void> {
    const { private: own } = this.#data
    const { records, host } = this.#room
    if (own === undefined || records === undefined) return
    this.#data.begun = n
    this.#peer.touch()
    const { pid, id, generation } = own
    const socket = { id, owner: this.#owner, generation }
    let isOurs = false
    try {
      isOurs = await records.begin(pid, socket, [n, runId, isBound], this.#place.open)
    } catch (error) {
      this.#place.advance(n, 0, true)
      throw error
    } finally {
      // It is not written down, or another connection has taken the place of this one: nobody will ask for it.
      if (!isOurs && isBound) await host.cancel(runId, this.#owner).catch(thrown => this.#tellThrown(thrown))
    }
    if (this.#left !== undefined) await this.#tellLeft()
  }

  #tellPlain(run: Run): Begun {
    this.#runs.set(run.id, { cancel: run.cancel, leave: run.cancel })
    const teller = this.#tellerOf(run.id, undefined, 0)
    const tell = async () => {
      for (let item = await run.next(); !item.done; item = await run.next()) {
        if (this.#peer.isCongested) await this.#relief()
        try {
          teller.tell(item.value)
        } catch (error) {
          run.fail(error)
        }
      }
      teller.stop()
      this.#end(run.id)
    }
    return { runId: run.id, tell: () => void tell() }
  }

  async #follow(runId: string, n: number, after: number): Promise<() => Promise<void>> {
    // From the beginning: the answer at the end has the text that was told before.
    const follower = await this.#room.host.follow(runId, this.#owner, 0)
    if (this.#left !== undefined) follower.leave()
    else this.#runs.set(runId, { cancel: undefined, leave: () => follower.leave() })
    const teller = this.#tellerOf(runId, n, after)
    return () => this.#tellFollowed(follower, teller, runId)
  }

  async #tellFollowed(follower: Follower, teller: Teller, runId: string): Promise<void> {
    try {
      for (let batch = await follower.next(); batch !== undefined; batch = await follower.next()) {
        // The log holds what the run host wrote into it.
        for (const { data } of batch) {
          if (this.#peer.isCongested) await this.#relief()
          teller.tell(JSON.parse(data) as RunEvent)
        }
      }
    } catch (thrown) {
      follower.leave()
      this.#tellUnread(thrown, runId, undefined)
    }
    teller.stop()
    this.#end(runId)
  }

  #tellerOf(runId: string, n: number | undefined, after: number): Teller {
    return new Teller({
      runId,
      after,
      maxLength: this.#room.runs.maxLength,
      send: (event, payload, seq, isLast) => {
        if (this.#left !== undefined) return
        const place = n === undefined ? undefined : this.#place.advance(n, seq, isLast)
        this.#peer.send(event, payload, place)
      },
    })
  }

  #end(runId: string): void {
    this.#runs.delete(runId)
    this.#count--
  }

  /** Waits until the client has read some of what waits for it. */
  async #relief(): Promise<void> {
    while (this.#peer.isCongested && this.#left === undefined) {
      await new Promise(resolve => setTimeout(resolve, CONGESTION_MS))
    }
  }

  get #owner(): string | null {
    return this.#data.identity?.id ?? null
  }
}

const NO_HEADERS = new Headers()

/** What an idempotency key stands for: all but itself and the name. */
function bodyOf(payload: unknown): object {
  const { name: _name, idempotencyKey: _key, ...body } = asJson(payload)
  return body
}

function keyOf(payload: unknown): string {
  const { apiKey } = Object(payload) as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : ''
}

function tooFast({ maxEventsPerSecond }: Required<GatewayLimits>): ServableError {
  return new ServableError('rate_limited', `A socket may send at most ${maxEventsPerSecond} events a second`)
}
