/**
 * The session of one client of the gateway. The client's events start runs, and the runs' events go to the client.
 *
 * @module
 */

import type { InputRequest, Kind, RunEvent } from '../../../agents/contract.ts'
import { isServableError, redact, reportError, ServableError, shouldLog } from '../../../base/errors.ts'
import type { Identity } from '../../../http/platform.ts'
import type { Asker, StartedRun } from '../../../http/runs/start-run.ts'
import { checkPermitOf } from '../../../runs/permit.ts'
import type { Run } from '../../../runs/run.ts'
import type { Follower } from '../../../runs/stored/host.ts'
import type { Target } from '../../../runs/target.ts'
import type { Ack } from '../socket/io/namespace.ts'
import type { GatewayContext, Peer, SessionConnection } from './context.ts'
import { EventSender } from './event-sender.ts'
import { KeyWatch } from './key-watch.ts'
import type { GatewayLimits } from './options.ts'
import {
  bodyOf,
  keyOf,
  parseAnswersPayload,
  parseCancel,
  parseRun,
  type RunPayload,
  unknownEvent,
} from './payload.ts'
import type { SocketRecord } from './records.ts'
import type { SessionData } from './session-data.ts'
import { type SeenEvents, SocketPosition } from './socket-position.ts'

/** A run whose events the session sends. */
interface OpenRun {
  readonly cancel: (() => void) | undefined
  /** Stops sending the run's events. */
  readonly leave: () => void
}

/** An unfinished or unseen run of a reconnected client. `after` is the last log entry that the client has received. */
interface MissedRun {
  readonly n: number
  readonly runId: string
  readonly after: number
}

/** A run whose events are about to be sent. */
interface BegunRun {
  readonly runId: string
  /** The open requests of a run that was answered in part. */
  readonly requests?: readonly InputRequest[] | undefined
  /** Whether the run continues. Given to somebody other than the owner, with `resumable`. */
  readonly goesOn?: boolean
  readonly resumable?: true
  /** Sends the events of the run. */
  readonly sendEvents: () => void
}

const KINDS: Readonly<Record<string, Kind>> = {
  'agent.run': 'agent',
  'team.run': 'team',
  'workflow.run': 'workflow',
}

/** Milliseconds between checks whether a slow client has caught up. */
const CONGESTION_MS = 20

/** The session of one client. */
export class GatewaySession {
  readonly #context: GatewayContext
  readonly #peer: Peer
  #data: SessionData
  readonly #runs = new Map<string, OpenRun>()
  #position: SocketPosition
  readonly #connection: SessionConnection
  readonly #key: KeyWatch
  /** How many runs have begun or are about to begin. */
  #count = 0
  /** Set once the client has disconnected. `away`: it may reconnect. */
  #left: 'away' | 'gone' | undefined

  constructor(context: GatewayContext, peer: Peer, data: SessionData, connection: SessionConnection) {
    this.#context = context
    this.#peer = peer
    this.#data = data
    this.#position = new SocketPosition(data.private?.id ?? '', data.begun)
    this.#connection = connection
    this.#key = new KeyWatch(context.runs.permit)
  }

  get identity(): Identity | undefined {
    return this.#data.identity
  }

  /** Merges the data of a new admission after the client has reconnected. Returns the merged data. */
  renew(data: SessionData): SessionData {
    this.#data = { ...this.#data, ...data }
    return this.#data
  }

  /** Handles an event. An error is sent as `agent.error`, and in the acknowledgement if the client asked for one. */
  async take(event: string, payload: unknown, ack: Ack | undefined): Promise<void> {
    if (this.#left !== undefined) return
    try {
      if (!this.#connection.rate.take()) throw tooFast(this.#context.limits)
      const begun = await this.#perform(event, payload)
      const { sendEvents, ...answer } = begun
      ack?.(answer)
      sendEvents()
    } catch (thrown) {
      this.#report(thrown, keyOf(payload))
      const { code, message } = reportError(thrown, this.#context.runs.production, 'internal_error')
      const error = redact(message, [this.#data.apiKey ?? '', keyOf(payload)])
      ack?.({ error, code })
      this.#peer.send('agent.error', { error, code }, undefined)
    }
  }

  /** Call it when the client has answered a ping. Calls `onInvalid` if the client's key is no longer valid. */
  readonly checkKey = (onInvalid: () => void): Promise<void> => this.#key.check(this.identity, onInvalid)

  /**
   * Sends the events that the client has missed, and none twice. Many runs may have ended meanwhile, so only some are read at a
   * time. That is twice as many as a socket may run at once, so unfinished runs cannot block the others.
   */
  async resume({ id, runs }: SocketRecord, { begun, open }: SeenEvents): Promise<void> {
    const missed = runs.flatMap(([n, runId]) => {
      const after = n > begun ? 0 : open.get(n)
      return after === undefined ? [] : [{ n, runId, after }]
    })
    // A run without a sent event does not count as begun for the client, because the connection may break again.
    this.#position = new SocketPosition(id, begun)
    for (const { n, runId, after } of missed) {
      if (n <= begun) this.#position.begin(n, after)
      this.#expect(runId)
      this.#count++
    }
    const queue = missed.values()
    const readOn = async () => {
      for (const run of queue) await this.#resumeRun(run)
    }
    const atOnce = Math.min(missed.length, 2 * this.#context.limits.maxRunsPerSocket)
    await Promise.all(Array.from({ length: atOnce }, readOn))
  }

  async #resumeRun({ n, runId, after }: MissedRun): Promise<void> {
    if (this.#left !== undefined) return
    if (n > this.#position.begun) this.#position.begin(n)
    try {
      const sendEvents = await this.#follow(runId, n, after)
      await sendEvents()
    } catch (thrown) {
      // The log is deleted, so a later try cannot read it either.
      const isOver = isServableError(thrown) && thrown.code === 'run_not_found'
      this.#sendUnread(thrown, runId, isOver ? this.#position.advance(n, after, true) : undefined)
      this.#end(runId)
    }
  }

  /** Sends that a run's log cannot be read. Without a position, the client can read the rest when it reconnects. */
  #sendUnread(thrown: unknown, runId: string, position: string | undefined): void {
    this.#report(thrown)
    if (this.#left !== undefined) return
    const { code, message } = reportError(thrown, this.#context.runs.production, 'internal_error')
    this.#peer.send('agent.error', { error: message, code, runId }, position)
  }

  /** Call it when the connection has closed. `mayReturn`: whether the client may continue with another one. */
  leave(mayReturn: boolean): void {
    this.#left = mayReturn ? 'away' : 'gone'
    for (const { leave } of this.#runs.values()) leave()
    this.#runs.clear()
    if (this.#position.begun > 0) void this.#recordLeft().catch(thrown => this.#report(thrown))
  }

  /** Reports an error to the log if the client cannot correct it. */
  #report(thrown: unknown, key = ''): void {
    if (!shouldLog(thrown)) return
    const { apiKey = '', requestId } = this.#data
    this.#context.onError(thrown, requestId, [apiKey, key, ...this.#connection.secrets()])
  }

  async #recordLeft(): Promise<void> {
    const { records } = this.#context
    const { private: own } = this.#data
    if (own === undefined) return
    await (this.#left === 'away'
      ? records?.away(own.pid, own.generation)
      : records?.drop(own.pid, own.generation))
  }

  async #perform(event: string, payload: unknown): Promise<BegunRun> {
    const kind = Object.hasOwn(KINDS, event) ? KINDS[event] : undefined
    if (kind !== undefined) return this.#run(kind, payload)
    if (event === 'run.answers') return this.#answer(payload)
    if (event === 'run.cancel') return this.#cancel(parseCancel(payload).runId)
    throw unknownEvent(event)
  }

  async #cancel(runId: string): Promise<BegunRun> {
    const { host, runs } = this.#context
    const own = this.#runs.get(runId)?.cancel
    // A run of this session may not be stored, so the check cannot look it up. The key may run it, because it started it.
    const find = () => host.get(runId, this.#owner)
    await (own ? runs.permit?.(this.#asker()) : checkPermitOf(runs.permit, this.#asker(), find))
    await (own ? own() : host.cancel(runId, this.#owner))
    return { runId, sendEvents() {} }
  }

  async #run(kind: Kind, payload: unknown): Promise<BegunRun> {
    const asked = parseRun(payload)
    const target = this.#context.catalog.resolve(kind, asked.name)
    return this.#counted(() => this.#begin(target, asked, payload))
  }

  /** Handles answers. The events of the run that continues are sent like those of any other run. */
  async #answer(payload: unknown): Promise<BegunRun> {
    const { runId, answers, apiKey = this.#data.apiKey, background = false } = parseAnswersPayload(payload)
    return this.#counted(async () => {
      const asked = { id: runId, answers, apiKey, isBackground: background || this.#mayReturn }
      const { record, started } = await this.#context.answerRun(asked, this.#asker())
      if (started !== undefined) return this.#open(started, background)
      const { requests = [], resumable } = record
      const decided = 'goesOn' in record && { goesOn: record.goesOn, ...(resumable && { resumable }) }
      return { runId, requests, ...decided, sendEvents: () => void this.#count-- }
    })
  }

  /** Counts a run while it begins. Throws `too_many_runs`. */
  async #counted(begin: () => Promise<BegunRun>): Promise<BegunRun> {
    const { maxRunsPerSocket } = this.#context.limits
    if (this.#count >= maxRunsPerSocket) {
      throw new ServableError('too_many_runs', `A socket may have at most ${maxRunsPerSocket} runs at a time`)
    }
    this.#count++
    try {
      return await begin()
    } catch (error) {
      this.#count--
      throw error
    }
  }

  /** Whether the client may reconnect. Its runs then continue without it. */
  get #mayReturn(): boolean {
    return this.#context.records !== undefined && this.#data.private !== undefined
  }

  async #begin(target: Target, asked: RunPayload, payload: unknown): Promise<BegunRun> {
    const { apiKey = this.#data.apiKey, background = false, idempotencyKey, name: _, ...rest } = asked
    const started = await this.#context.startRun(
      {
        ...rest,
        target,
        apiKey,
        isBackground: background || this.#mayReturn,
        key: idempotencyKey ? { key: idempotencyKey, body: bodyOf(payload) } : undefined,
      },
      this.#asker(),
    )
    return this.#open(started, background)
  }

  async #open({ id: runId, isNew, run }: StartedRun, background: boolean): Promise<BegunRun> {
    const { runs } = this.#context
    if (run !== undefined) return this.#openPlain(run)
    // The idempotency key was used before, and this session already sends the run's events.
    if (this.#runs.has(runId)) return { runId, sendEvents: () => void this.#count-- }
    this.#expect(runId)
    try {
      const n = this.#position.begin()
      // If clients share the run by its key, the run ends with the client that started it.
      await this.#note(n, runId, !background && runs.disconnect !== 'continue' && isNew)
      return { runId, sendEvents: await this.#follow(runId, n, 0) }
    } catch (error) {
      this.#runs.delete(runId)
      throw error
    }
  }

  /** Marks a run as sent by this session before its log is open. */
  #expect(runId: string): void {
    this.#runs.set(runId, { cancel: undefined, leave() {} })
  }

  #asker(): Asker {
    const { ip, secrets } = this.#connection
    return {
      owner: this.#owner,
      identity: this.identity,
      ip,
      requestId: this.#data.requestId,
      transport: 'socket',
      // Isolated clients were refused when they connected.
      isIsolated: false,
      apiKeys: apiKey => this.#context.readKeys(new Headers(), apiKey),
      credentials: () => [],
      secrets,
    }
  }

  /** Stores that the socket has this run, so that its client can reconnect to it. */
  async #note(n: number, runId: string, isBound: boolean): Promise<void> {
    const { private: own } = this.#data
    const { records, host } = this.#context
    if (own === undefined || records === undefined) return
    this.#data.begun = n
    this.#peer.touch()
    const { pid, id, generation } = own
    const socket = { id, owner: this.#owner, generation }
    let isOurs = false
    try {
      isOurs = await records.begin(pid, socket, [n, runId, isBound], this.#position.open)
    } catch (error) {
      this.#position.advance(n, 0, true)
      throw error
    } finally {
      // The run was not stored for this connection, so no client would ever read it.
      if (!isOurs && isBound) await host.cancel(runId, this.#owner).catch(thrown => this.#report(thrown))
    }
    if (this.#left !== undefined) await this.#recordLeft()
  }

  #openPlain(run: Run): BegunRun {
    this.#runs.set(run.id, { cancel: run.cancel, leave: run.cancel })
    const sender = this.#senderOf(run.id, undefined, 0)
    const sendEvents = async () => {
      for (let item = await run.next(); !item.done; item = await run.next()) {
        if (this.#peer.isCongested) await this.#relief()
        try {
          sender.push(item.value)
        } catch (error) {
          run.fail(error)
        }
      }
      sender.stop()
      this.#end(run.id)
    }
    return { runId: run.id, sendEvents: () => void sendEvents() }
  }

  async #follow(runId: string, n: number, after: number): Promise<() => Promise<void>> {
    // The log is read from the beginning, because the last event contains all text.
    const follower = await this.#context.host.follow(runId, this.#owner, 0)
    if (this.#left !== undefined) follower.leave()
    else this.#runs.set(runId, { cancel: undefined, leave: () => follower.leave() })
    const sender = this.#senderOf(runId, n, after)
    return () => this.#sendFollowed(follower, sender, runId)
  }

  async #sendFollowed(follower: Follower, sender: EventSender, runId: string): Promise<void> {
    try {
      for (let batch = await follower.next(); batch !== undefined; batch = await follower.next()) {
        // Only the run host writes the log, so its entries have this shape.
        for (const { data } of batch) {
          if (this.#peer.isCongested) await this.#relief()
          sender.push(JSON.parse(data) as RunEvent)
        }
      }
    } catch (thrown) {
      follower.leave()
      this.#sendUnread(thrown, runId, undefined)
    }
    sender.stop()
    this.#end(runId)
  }

  #senderOf(runId: string, n: number | undefined, after: number): EventSender {
    return new EventSender({
      runId,
      after,
      maxLength: this.#context.runs.maxLength,
      send: (event, payload, seq, isLast) => {
        if (this.#left !== undefined) return
        const position = n === undefined ? undefined : this.#position.advance(n, seq, isLast)
        this.#peer.send(event, payload, position)
      },
    })
  }

  #end(runId: string): void {
    this.#runs.delete(runId)
    this.#count--
  }

  /** Waits until the client has read some of its waiting bytes. */
  async #relief(): Promise<void> {
    while (this.#peer.isCongested && this.#left === undefined) {
      await new Promise(resolve => setTimeout(resolve, CONGESTION_MS))
    }
  }

  get #owner(): string | null {
    return this.#data.identity?.id ?? null
  }
}

function tooFast({ maxEventsPerSecond }: Required<GatewayLimits>): ServableError {
  return new ServableError('rate_limited', `A socket may send at most ${maxEventsPerSecond} events a second`)
}
