import type { Document } from './store.ts'

type Place = Pick<Document, 'at' | 'id'>

/** Orders by time, then by id. */
export function comparePlaces(a: Place, b: Place): number {
  return a.at - b.at || compareTexts(a.id, b.id)
}

const SURROGATE = /[\ud800-\udfff]/

/** By code points, as SQL orders text; `<` would order by UTF-16 units. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  // Below the surrogates both orders are the same.
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1
  const [left, right] = [Array.from(a), Array.from(b)]
  const index = left.findIndex((character, i) => character !== right[i])
  if (index === -1) return left.length - right.length
  return (left[index]?.codePointAt(0) ?? -1) - (right[index]?.codePointAt(0) ?? -1)
}

/**
 * Documents, or what stands for them, in the order of time. Adding at the end, finding and leaving out are cheap however many there are: what
 * is deleted leaves a hole, and the holes are closed once they are half of it.
 */
export class Timeline<T extends Place = Document> {
  #places: { place: Place; document: T | undefined }[] = []
  #size = 0
  /** No document is before this index: what goes first leaves no holes to look through. */
  #head = 0

  get size(): number {
    return this.#size
  }

  /** Adds a document, or replaces the one of the same place. */
  put(document: T): void {
    const index = this.#search(document)
    const found = this.#places[index]
    const { at, id } = document
    if (found !== undefined && comparePlaces(found.place, document) === 0) {
      if (found.document === undefined) this.#size++
      found.document = document
      this.#head = Math.min(this.#head, index)
      return
    }
    this.#places.splice(index, 0, { place: { at, id }, document })
    this.#head = Math.min(this.#head, index)
    this.#size++
  }

  delete(place: Place): void {
    const found = this.#places[this.#search(place)]
    if (found?.document === undefined || comparePlaces(found.place, place) !== 0) return
    found.document = undefined
    this.#size--
    while (this.#places[this.#head]?.document === undefined && this.#head < this.#places.length) this.#head++
    if (this.#size * 2 >= this.#places.length) return
    this.#places = this.#places.filter(({ document }) => document)
    this.#head = 0
  }

  /** Newest first, from before `after` on. */
  *newest(after?: Place): Generator<T> {
    let index = after === undefined ? this.#places.length : this.#search(after)
    while (index-- > 0) {
      const document = this.#places[index]?.document
      if (document !== undefined) yield document
    }
  }

  *oldest(): Generator<T> {
    for (let index = this.#head; index < this.#places.length; index++) {
      const document = this.#places[index]?.document
      if (document !== undefined) yield document
    }
  }

  /** The first index whose place is not before `place`. Looks at the end first: time goes forward. */
  #search(place: Place): number {
    const last = this.#places.at(-1)
    if (last === undefined || comparePlaces(last.place, place) < 0) return this.#places.length
    let low = 0
    let high = this.#places.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (comparePlaces(this.#places[middle]!.place, place) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
