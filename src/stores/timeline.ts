import type { Document, Position } from './store.ts'

/** Orders by time, then by id. */
export function comparePositions(a: Position, b: Position): number {
  return a.at - b.at || compareTexts(a.id, b.id)
}

/** Compares by code points, as SQL orders text. `<` would compare by UTF-16 units. */
function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (left !== right) return rankOf(left) - rankOf(right)
  }
  return a.length - b.length
}

/** Ranks surrogates after all other units, since they encode the highest code points. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Most documents of a bucket. A larger bucket is split in two. */
const BUCKET = 128

/**
 * Documents, or entries for them, in the order of time. Adding, finding and removing cost little at any number and position.
 * The documents are in buckets of limited size, none of which is empty.
 */
export class Timeline<T extends Position = Document> {
  readonly #buckets: T[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds a document, or replaces the one at the same position. */
  put(document: T): void {
    // A document later than all others joins the last bucket.
    const at = Math.min(this.#bucketOf(document), this.#buckets.length - 1)
    const bucket = this.#buckets[at]
    if (bucket === undefined) {
      this.#buckets.push([document])
      this.#size = 1
      return
    }
    const index = indexIn(bucket, document)
    const found = bucket[index]
    if (found !== undefined && comparePositions(found, document) === 0) {
      bucket[index] = document
      return
    }
    bucket.push(document)
    // `splice` would make an array of the removed items.
    bucket.copyWithin(index + 1, index, bucket.length - 1)
    bucket[index] = document
    this.#size++
    if (bucket.length > BUCKET) this.#split(at, bucket)
  }

  delete(position: Position): void {
    const at = this.#bucketOf(position)
    const bucket = this.#buckets[at]
    if (bucket === undefined) return
    const index = indexIn(bucket, position)
    if (comparePositions(bucket[index]!, position) !== 0) return
    bucket.splice(index, 1)
    this.#size--
    if (bucket.length === 0) this.#buckets.splice(at, 1)
  }

  /** Newest first, beginning before `after`. */
  *newest(after?: Position): Generator<T> {
    let at = after === undefined ? this.#buckets.length : this.#bucketOf(after)
    const first = this.#buckets[at]
    if (after !== undefined && first !== undefined) {
      for (let index = indexIn(first, after) - 1; index >= 0; index--) yield first[index]!
    }
    while (--at >= 0) {
      const bucket = this.#buckets[at]!
      for (let index = bucket.length - 1; index >= 0; index--) yield bucket[index]!
    }
  }

  /** Oldest first, beginning at `from`. */
  *oldest(from?: Position): Generator<T> {
    let at = from === undefined ? 0 : this.#bucketOf(from)
    const first = this.#buckets[at]
    let index = from === undefined || first === undefined ? 0 : indexIn(first, from)
    for (; at < this.#buckets.length; at++) {
      const bucket = this.#buckets[at]!
      for (; index < bucket.length; index++) yield bucket[index]!
      index = 0
    }
  }

  /** Splits a bucket. The last bucket keeps all but its last document, so that buckets become full while time advances. */
  #split(at: number, bucket: T[]): void {
    const isLast = at === this.#buckets.length - 1
    const rest = bucket.splice(isLast ? bucket.length - 1 : bucket.length >> 1)
    this.#buckets.splice(at + 1, 0, rest)
  }

  /**
   * Returns the first bucket whose last position is not before `position`. It checks the end first, since new documents come
   * there.
   */
  #bucketOf(position: Position): number {
    const isBefore = (bucket: readonly T[] | undefined) => comparePositions(bucket!.at(-1)!, position) < 0
    return firstIndex(this.#buckets, isBefore)
  }
}

/** Returns the first index in a bucket whose position is not before `position`. */
function indexIn(bucket: readonly Position[], position: Position): number {
  return firstIndex(bucket, one => comparePositions(one!, position) < 0)
}

/** The first index of a sorted list whose item is not before the target. */
function firstIndex<T>(list: readonly T[], isBefore: (one: T | undefined) => boolean): number {
  if (list.length === 0 || isBefore(list.at(-1))) return list.length
  let low = 0
  let high = list.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(list[middle])) low = middle + 1
    else high = middle
  }
  return low
}
