/**
 * Places for uploads. They limit how many uploads are at work at a time and how many bytes they hold, and share both between
 * clients.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { type Claim, FairShare } from '../../base/fair-share.ts'

/** Bounds on uploads. */
export interface PlacesOptions {
  readonly maxConcurrent: number
  /** Bytes of all of them. */
  readonly maxTotalSize: number
  /** Milliseconds after which a place that is not given back, as where a response is thrown away unread, is free again. */
  readonly leaseMs: number
}

/** Milliseconds that an upload waits for a place. */
const WAIT_MS = 15_000

/** Milliseconds between two looks at whether there is a place. */
const LOOK_MS = 50

/** Milliseconds after that in which it is sure to have looked, if it is still there. */
const LATE_MS = 1000

/** Uploads that wait at a time. */
const MAX_WAITING = 64

/** While others wait, an upload that is slower than this for so long gives its place back. */
const MIN_BYTES_PER_SECOND = 1024
const SLOW_MS = 10_000

/** An upload that waits; nothing of its body is read. */
interface Waiting extends Wanted {
  readonly until: number
}

interface Wanted {
  readonly claims: readonly Claim[]
  readonly bytes: number
}

/** The places of one handler. Each upload looks by itself at what others do: on Workers one request may not act for another. */
export class UploadPlaces {
  readonly #leaseMs: number
  readonly #share: FairShare
  readonly #bytes: FairShare
  readonly #line = new FairShare(MAX_WAITING)
  readonly #waiting = new Set<Waiting>()
  /** In the order in which they were taken. */
  readonly #taken = new Set<UploadPlace>()

  constructor({ maxConcurrent, maxTotalSize, leaseMs }: PlacesOptions) {
    this.#share = new FairShare(maxConcurrent)
    this.#bytes = new FairShare(maxTotalSize)
    this.#leaseMs = leaseMs
  }

  /**
   * A place for an upload of so many declared bytes. Waits while uploads arrive, which may end or be too slow. Throws
   * `rate_limited`.
   */
  async take(client: string, bytes: number, signal?: () => AbortSignal): Promise<UploadPlace> {
    const wanted = {
      claims: [{ name: client }],
      bytes,
      until: performance.now() + WAIT_MS,
    }
    return this.#enter(wanted) ?? this.#wait(wanted, signal?.())
  }

  async #wait(wanted: Waiting, signal: AbortSignal | undefined): Promise<UploadPlace> {
    if (!this.#mayChange(wanted) || !this.#line.change(wanted.claims, 0, 1)) throw full()
    this.#waiting.add(wanted)
    try {
      while (this.#mayChange(wanted) && performance.now() < wanted.until && signal?.aborted !== true) {
        await new Promise(resolve => setTimeout(resolve, LOOK_MS))
        const place = this.#enter(wanted)
        if (place !== undefined) return place
      }
      throw full()
    } finally {
      this.#leaveLine(wanted)
    }
  }

  #leaveLine(wanted: Waiting): void {
    if (this.#waiting.delete(wanted)) this.#line.change(wanted.claims, 1, 0)
  }

  /** A place, where there is one, and nobody who came earlier could have it. */
  #enter(wanted: Waiting): UploadPlace | undefined {
    this.#expire()
    for (const other of this.#waiting) {
      if (other === wanted) break
      if (this.#fits(other)) return undefined
    }
    if (!this.#fits(wanted)) return undefined
    const { claims, bytes } = wanted
    this.#share.change(claims, 0, 1)
    this.#bytes.change(claims, 0, bytes)
    const place: UploadPlace = new UploadPlace(bytes, {
      isWanted: () => this.#waiting.size > 0,
      resize: (from, to) => this.#bytes.change(claims, from, to),
      leave: held => {
        if (!this.#taken.delete(place)) return
        this.#share.change(claims, 1, 0)
        this.#bytes.change(claims, held, 0)
      },
    })
    this.#taken.add(place)
    return place
  }

  #fits({ claims, bytes }: Wanted): boolean {
    return this.#share.allows(claims, 0, 1) && this.#bytes.allows(claims, 0, bytes)
  }

  /** Whether there may soon be a place: a run that has its files can take as long as runs may. */
  #mayChange(wanted: Wanted): boolean {
    for (const { isArriving } of this.#taken) if (isArriving) return true
    // Others come first.
    return this.#fits(wanted)
  }

  /** Lets go of those whose request has ended without a word, as a runtime may end it. */
  #expire(): void {
    const now = performance.now()
    for (const waiting of this.#waiting) if (waiting.until + LATE_MS < now) this.#leaveLine(waiting)
    for (const place of this.#taken) {
      if (place.takenAt >= now - this.#leaseMs) return
      place.release()
    }
  }
}

/** What a place needs of the others. */
interface Others {
  /** Whether anybody waits. */
  readonly isWanted: () => boolean
  /** Whether it may hold so many bytes now. */
  readonly resize: (from: number, to: number) => boolean
  readonly leave: (held: number) => void
}

/** The place of one upload, which holds it until it is released. */
export class UploadPlace {
  readonly takenAt: number = performance.now()
  /** Its bytes are still to come. */
  isArriving = true
  readonly #others: Others
  #held: number
  #size = 0
  /** The span in which its bytes are counted, and whether the one before was slow. */
  #spanAt = this.takenAt
  #spanBytes = 0
  #wasSlow = false

  constructor(held: number, others: Others) {
    this.#held = held
    this.#others = others
  }

  /** More bytes have come. Throws `rate_limited` where there is no room for what was not declared. */
  add(bytes: number): void {
    this.#beginSpan()
    this.#spanBytes += bytes
    this.#size += bytes
    if (this.#size <= this.#held) return
    if (!this.#others.resize(this.#held, this.#size)) throw full()
    this.#held = this.#size
  }

  /** To be called now and then while bytes are to come. Throws `upload_too_slow` where others wait for a slow one. */
  check(): void {
    this.#beginSpan()
    const least = (MIN_BYTES_PER_SECOND * (performance.now() - this.#spanAt)) / 1000
    if (!this.#wasSlow || this.#spanBytes > least || !this.#others.isWanted()) return
    const text = `This upload was slower than ${MIN_BYTES_PER_SECOND} bytes a second while others waited: try again later`
    throw new ServableError('upload_too_slow', text)
  }

  release(): void {
    this.isArriving = false
    this.#others.leave(this.#held)
  }

  #beginSpan(): void {
    const now = performance.now()
    const ms = now - this.#spanAt
    if (ms < SLOW_MS) return
    this.#wasSlow = this.#spanBytes < (MIN_BYTES_PER_SECOND * ms) / 1000
    this.#spanAt = now
    this.#spanBytes = 0
  }
}

function full(): ServableError {
  return new ServableError('rate_limited', 'Too many uploads are under way: try again later')
}
