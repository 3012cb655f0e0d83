/**
 * The place of an event among all that a socket is told: how many runs have begun, and how far each of those under way
 * has been told. With it a client that comes back says what it has seen.
 *
 * @module
 */

/** How far a client has seen. */
export interface Seen {
  /** The number of the last run that it has seen begin. */
  readonly begun: number
  /** Of the runs under way, the last entry of each log. */
  readonly open: ReadonlyMap<number, number>
}

const NOTHING: Seen = { begun: 0, open: new Map() }

/** Characters of a socket's id that its places begin with: a client keeps its last place when it gets another socket. */
const MARK_LENGTH = 8

/** Keeps the place of one socket. */
export class Place {
  readonly #mark: string
  #begun: number
  readonly #open = new Map<number, number>()

  constructor(socketId: string, begun = 0) {
    this.#mark = socketId.slice(0, MARK_LENGTH)
    this.#begun = begun
  }

  /** The runs that are under way. */
  get open(): readonly number[] {
    return [...this.#open.keys()]
  }

  /** The number of the last run. */
  get begun(): number {
    return this.#begun
  }

  /** A run has begun, or goes on after an entry of its log. Gives its number. */
  begin(n: number = this.#begun + 1, after = 0): number {
    this.#begun = Math.max(this.#begun, n)
    this.#open.set(n, after)
    return n
  }

  /** A run is told up to an entry; gives the place after that, as clients keep it. */
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
const PLACE = new RegExp(`^[\\w-]{0,${MARK_LENGTH}};${NUMBER}(;${NUMBER}\\.${NUMBER}){0,1000}$`)

/**
 * Reads a place among the `last` runs of a socket; a client that has had no event of it names none, or another socket's.
 * Undefined for what is none.
 */
export function readPlace(text: unknown, socketId: string, last: number): Seen | undefined {
  if (text === undefined || text === null) return NOTHING
  if (typeof text !== 'string' || text.length > 10_000 || !PLACE.test(text)) return undefined
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
