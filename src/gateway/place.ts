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

/** Keeps the place of one socket. */
export class Place {
  #begun: number
  readonly #open = new Map<number, number>()

  constructor(begun = 0) {
    this.#begun = begun
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
    return [this.#begun.toString(36), ...Array.from(this.#open, encodeOpen)].join(';')
  }
}

function encodeOpen([n, seq]: [number, number]): string {
  return `${n.toString(36)}.${seq.toString(36)}`
}

const NUMBER = '[0-9a-z]{1,9}'
const PLACE = new RegExp(`^${NUMBER}(;${NUMBER}\\.${NUMBER}){0,1000}$`)

/** Reads a place among `last` runs; a client that has had no event names none. Undefined for what is none. */
export function readPlace(text: unknown, last: number): Seen | undefined {
  if (text === undefined || text === null) return NOTHING
  if (typeof text !== 'string' || text.length > 10_000 || !PLACE.test(text)) return undefined
  const [begun = '', ...open] = text.split(';')
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
