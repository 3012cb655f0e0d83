/**
 * A histogram of positive numbers. Its buckets grow by a constant factor, so every quantile has a relative error of at most
 * 1 % for any distribution. Two sketches can be merged.
 *
 * Adding a number costs one logarithm and one increment. The memory is bounded: numbers from 0.001 to 10^10 use at most
 * 1,498 buckets. Smaller numbers count as 0, and larger ones as 10^10.
 *
 * @module
 */

/** The largest relative error of a quantile. */
export const RELATIVE_ERROR = 0.01

const GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_GAMMA = Math.log(GAMMA)
const MIN = 1e-3
const MAX = 1e10

/** A stored sketch: the number of zeros, the index of the first bucket, and the counts from that bucket on. */
export type SketchJson = readonly [zeros: number, first: number, counts: readonly number[]]

/** A sketch of numbers. */
export class Sketch {
  #zeros = 0
  /** The index of the first bucket. All buckets before it are empty. */
  #first = 0
  #counts: number[] = []
  #count = 0

  /** Reads a stored sketch. */
  static from([zeros, first, counts]: SketchJson): Sketch {
    const sketch = new Sketch()
    sketch.#zeros = zeros
    sketch.#first = first
    sketch.#counts = [...counts]
    sketch.#count = counts.reduce((sum, count) => sum + count, zeros)
    return sketch
  }

  /** How many numbers were added. */
  get count(): number {
    return this.#count
  }

  /** Adds a number. NaN and numbers that are not positive count as 0. */
  add(value: number): void {
    this.#count++
    if (value >= MIN) this.#addAt(Math.ceil(Math.log(Math.min(value, MAX)) / LOG_GAMMA), 1)
    else this.#zeros++
  }

  /** Adds all numbers of another sketch. */
  merge(other: Sketch): void {
    this.#zeros += other.#zeros
    this.#count += other.#count
    for (const [index, count] of other.#counts.entries()) {
      if (count > 0) this.#addAt(other.#first + index, count)
    }
  }

  /** Returns the quantile for a part of 0 to 1, by the nearest rank. Returns 0 for an empty sketch. */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.#count))
    let seen = this.#zeros
    if (this.#count === 0 || rank <= seen) return 0
    for (const [index, count] of this.#counts.entries()) {
      seen += count
      // The middle of the bucket in relative terms.
      if (seen >= rank) return (2 * GAMMA ** (this.#first + index)) / (GAMMA + 1)
    }
    return MAX
  }

  toJSON(): SketchJson {
    return [this.#zeros, this.#first, this.#counts]
  }

  #addAt(index: number, count: number): void {
    if (this.#counts.length === 0) this.#first = index
    while (index < this.#first) {
      this.#counts.unshift(0)
      this.#first--
    }
    const at = index - this.#first
    while (this.#counts.length <= at) this.#counts.push(0)
    this.#counts[at]! += count
  }
}
