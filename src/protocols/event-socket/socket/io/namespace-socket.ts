import { ServableError } from '../../../../base/errors.ts'
import { deferred } from '../../../../base/wake.ts'
import type { Connection, Handshake } from '../engine/connection.ts'
import { type EncodedEvent, EventLog } from './event-log.ts'
import type { DisconnectReason, Namespace, Socket } from './namespace.ts'
import { ACK, DISCONNECT, EVENT, encodeArguments, encodeControl, isEventName } from './packet.ts'

/** The type of Engine.IO messages. Every packet has it in front. */
const MESSAGE = '4'

/** Default of the milliseconds for which `ask` waits. */
const ASK_TIMEOUT = 10_000

/** The parts that all sockets of a server share. */
export interface SharedSocketParts {
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** Bytes of events that are held for a client that may reconnect. Undefined if recovery is off. */
  readonly maxLogBytes: number | undefined
  /** The sockets that wait for an answer. */
  readonly asking: Set<NamespaceSocket>
  /** Is called when a socket has left for good. */
  readonly left: (socket: NamespaceSocket) => void
}

/** The state from which a socket can continue elsewhere. */
export interface SocketSnapshot {
  readonly nsp: string
  readonly id: string
  readonly pid: string | undefined
  /** The number of the socket's last event. */
  readonly last: number
  readonly data: unknown
}

/** Whether a stored value has the shape of a snapshot. The handlers check `data`. */
export function isSocketSnapshot(value: unknown): value is SocketSnapshot {
  const { nsp, id, pid, last } = Object(value) as Partial<Record<keyof SocketSnapshot, unknown>>
  const isPid = pid === undefined || typeof pid === 'string'
  return typeof nsp === 'string' && typeof id === 'string' && isPid && typeof last === 'number'
}

interface Question {
  readonly resolve: (answer: unknown[] | undefined) => void
  readonly until: number
}

/** The server's own {@link Socket}. */
export class NamespaceSocket implements Socket {
  readonly id: string
  readonly nsp: string
  readonly handshake: Handshake
  readonly namespace: Namespace
  /** The private id. A client that names it continues with this socket. */
  readonly pid: string | undefined
  readonly log: EventLog | undefined
  /** The time until which the client may reconnect, while it is away. */
  awayUntil = 0
  readonly #shared: SharedSocketParts
  #data: unknown
  #connection: Connection | undefined
  #questions: Map<number, Question> | undefined
  #asked = 0
  #hasLeft = false

  constructor(
    shared: SharedSocketParts,
    namespace: Namespace,
    connection: Connection,
    { nsp, id, pid, last, data }: SocketSnapshot,
  ) {
    this.#shared = shared
    this.namespace = namespace
    this.#connection = connection
    this.handshake = connection.handshake
    this.nsp = nsp
    this.id = id
    this.pid = pid
    this.#data = data
    this.log = shared.maxLogBytes === undefined ? undefined : new EventLog(shared.maxLogBytes, last)
  }

  get data(): unknown {
    return this.#data
  }

  set data(data: unknown) {
    this.#data = data
    this.touch()
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  get isCongested(): boolean {
    return this.#connection?.isCongested ?? false
  }

  touch(): void {
    this.#connection?.touch()
  }

  get connection(): Connection | undefined {
    return this.#connection
  }

  emit(...data: [event: string, ...args: unknown[]]): void {
    checkName(data[0])
    const { log } = this
    if (log === undefined) {
      if (this.#connection !== undefined)
        this.#send(encodeArguments(EVENT, this.nsp, undefined, data, MESSAGE))
      return
    }
    if (this.#hasLeft) return
    // The client remembers the last argument of an event as its offset.
    data.push(offsetOf(log.last + 1))
    const event = encodeArguments(EVENT, this.nsp, undefined, data, MESSAGE)
    log.push(event)
    this.#send(event)
  }

  ask(
    event: string,
    args: readonly unknown[],
    timeoutMs: number = ASK_TIMEOUT,
  ): Promise<unknown[] | undefined> {
    checkName(event)
    if (this.#connection === undefined) return Promise.resolve(undefined)
    const { promise, resolve } = deferred<unknown[] | undefined>()
    const id = this.#asked++
    this.#questions ??= new Map()
    this.#questions.set(id, { resolve, until: this.#shared.now() + timeoutMs })
    this.#shared.asking.add(this)
    this.#send(encodeArguments(EVENT, this.nsp, id, [event, ...args], MESSAGE))
    return promise
  }

  disconnect(): void {
    this.#connection?.sendFrame(MESSAGE + encodeControl(DISCONNECT, this.nsp, undefined))
    this.leave('server disconnect')
  }

  /** Answers the client's event with this id. */
  answer(id: number, args: readonly unknown[]): void {
    this.#send(encodeArguments(ACK, this.nsp, id, args, MESSAGE))
  }

  /** Handles an answer of the client. Answers without a question are dropped. */
  settle(id: number | undefined, answer: unknown[]): void {
    const question = id === undefined ? undefined : this.#questions?.get(id)
    if (id === undefined || question === undefined) return
    this.#questions?.delete(id)
    question.resolve(answer)
  }

  /** Ends the questions that have timed out. */
  tick(now: number): void {
    for (const [id, { until, resolve }] of this.#questions ?? []) {
      if (now < until) continue
      this.#questions?.delete(id)
      resolve(undefined)
    }
    if ((this.#questions?.size ?? 0) === 0) this.#shared.asking.delete(this)
  }

  /** Holds the socket after its connection is lost. Its events wait for the client. */
  suspend(until: number): void {
    this.#connection = undefined
    this.awayUntil = until
    this.#giveUp()
  }

  /** Continues on another connection of the client, and sends the missed events. */
  reconnect(connection: Connection, missed: readonly EncodedEvent[]): void {
    this.#connection = connection
    for (const event of missed) this.#send(event)
  }

  /** Leaves for good. */
  leave(reason: DisconnectReason): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#shared.left(this)
    this.#connection = undefined
    this.#giveUp()
    try {
      this.namespace.onDisconnect?.(this, reason)
    } catch (error) {
      this.#shared.onError(error)
    }
  }

  snapshot(): SocketSnapshot {
    return { nsp: this.nsp, id: this.id, pid: this.pid, last: this.log?.last ?? 0, data: this.data }
  }

  #giveUp(): void {
    for (const { resolve } of this.#questions?.values() ?? []) resolve(undefined)
    this.#questions = undefined
    this.#shared.asking.delete(this)
  }

  #send(event: EncodedEvent): void {
    const connection = this.#connection
    if (connection === undefined) return
    if (typeof event === 'string') return connection.sendFrame(event)
    for (const frame of event) connection.sendFrame(frame)
  }
}

/** The offset of an event, as its client remembers it. */
export function offsetOf(number: number): string {
  return number.toString(36)
}

/** The number of an offset. NaN if the offset is invalid. A client that has had no event sends none, which gives 0. */
export function numberOf(offset: unknown): number {
  if (offset === undefined) return 0
  return typeof offset === 'string' && /^[0-9a-z]{1,11}$/.test(offset)
    ? Number.parseInt(offset, 36)
    : Number.NaN
}

function checkName(event: string): void {
  if (isEventName(event)) return
  throw new ServableError('internal_error', `\`${event}\` cannot name an event: the protocol reserves it`)
}
