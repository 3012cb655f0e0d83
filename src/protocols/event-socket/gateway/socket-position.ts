/**
 * The position of an event among all events of a socket: how many runs have begun, and how far each unfinished run has been
 * sent. A client that reconnects sends its last position.
 *
 * @module
 */

/** The events that a client has received. */
export interface SeenEvents {
  /** The number of the last run whose beginning the client has received. */
  readonly begun: number
  /** The last received log entry of each unfinished run, by the run's number. */
  readonly open: ReadonlyMap<number, number>
}

const NOTHING: SeenEvents = { begun: 0, open: new Map() }

/**
 * How many characters of the socket's id a position begins with. A client that gets a new socket may still send a position
 * of the old one.
 */
const MARK_LENGTH = 8

/** Tracks the position of one socket. */
export class SocketPosition {
  readonly #mark: string
  #begun: number
  readonly #open = new Map<number, number>()

  constructor(socketId: string, begun = 0) {
    this.#mark = socketId.slice(0, MARK_LENGTH)
    this.#begun = begun
  }

  /** The numbers of the unfinished runs. */
  get open(): readonly number[] {
    return [...this.#open.keys()]
  }

  /** The number of the last run. */
  get begun(): number {
    return this.#begun
  }

  /** Adds a run. `after` is the last log entry that was sent before. Returns the run's number. */
  begin(n: number = this.#begun + 1, after = 0): number {
    this.#begun = Math.max(this.#begun, n)
    this.#open.set(n, after)
    return n
  }

  /** Sets the last log entry of a run that was sent. Returns the position for the client. */
  advance(n: number, seq: number, isLast: boolean): string {
    if (isLast) this.#open.delete(n)
    else this.#open.set(n, seq)
    return [this.#mark, this.#begun.toString(36), ...Array.from(this.#open, encodeOpen)].join(';')
  }
}

function encodeOpen([n, seq]: [number, number]): string {
  return `${n.toString(36)}.${seq.toString(36)}`
}

const NUMBER = '[0-9a-z]{1,9}'
const POSITION = new RegExp(`^[\\w-]{0,${MARK_LENGTH}};${NUMBER}(;${NUMBER}\\.${NUMBER}){0,1000}$`)

/**
 * Reads a client's position. `last` is the number of the socket's last run. A client without an event of this socket sends no
 * position, or that of another socket. Returns undefined for an invalid position.
 */
export function readPosition(text: unknown, socketId: string, last: number): SeenEvents | undefined {
  if (text === undefined || text === null) return NOTHING
  if (typeof text !== 'string' || text.length > 10_000 || !POSITION.test(text)) return undefined
  const [mark, begun = '', ...open] = text.split(';')
  if (mark !== socketId.slice(0, MARK_LENGTH)) return NOTHING
  const seen = { begun: decode(begun), open: new Map(open.map(decodeOpen)) }
  return seen.begun <= last && [...seen.open.keys()].every(n => n <= seen.begun) ? seen : undefined
}

function decodeOpen(text: string): [number, number] {
  const [n = '', seq = ''] = text.split('.')
  return [decode(n), decode(seq)]
}

function decode(text: string): number {
  return Number.parseInt(text, 36)
}
