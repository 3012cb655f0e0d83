/**
 * Slots for uploads. They limit how many uploads are at work at a time and how many bytes they hold, and share both between
 * clients.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { type Claim, FairShare } from '../../base/fair-share.ts'

/** The limits of uploads. */
export interface UploadSlotOptions {
  readonly maxConcurrent: number
  /** The most bytes of all uploads together. */
  readonly maxTotalSize: number
  /** Milliseconds after which a slot is free again that was not released, for example because a response was dropped unread. */
  readonly leaseMs: number
}

/** Milliseconds that an upload waits for a slot. */
const WAIT_MS = 15_000

/** Milliseconds between two checks for a free slot. */
const LOOK_MS = 50

/** Milliseconds after its deadline by which a waiting upload must have checked, if its request still exists. */
const LATE_MS = 1000

/** The most uploads that wait at a time. */
const MAX_WAITING = 64

/** While others wait, an upload that is slower than this for so long loses its slot. */
const MIN_BYTES_PER_SECOND = 1024
const SLOW_MS = 10_000

/** A waiting upload, whose body is not read. */
interface WaitingUpload extends WantedSlot {
  readonly until: number
}

interface WantedSlot {
  readonly claims: readonly Claim[]
  readonly bytes: number
}

/** The slots of one handler. Each upload checks the others by itself: on Workers one request may not act for another. */
export class UploadSlots {
  readonly #leaseMs: number
  readonly #share: FairShare
  readonly #bytes: FairShare
  readonly #line = new FairShare(MAX_WAITING)
  readonly #waiting = new Set<WaitingUpload>()
  /** In the order in which they were taken. */
  readonly #taken = new Set<UploadSlot>()

  constructor({ maxConcurrent, maxTotalSize, leaseMs }: UploadSlotOptions) {
    this.#share = new FairShare(maxConcurrent)
    this.#bytes = new FairShare(maxTotalSize)
    this.#leaseMs = leaseMs
  }

  /**
   * Takes a slot for an upload with so many declared bytes. Waits while other uploads arrive, which may end or be too slow.
   * Throws `rate_limited`.
   */
  async take(client: string, bytes: number, signal?: () => AbortSignal): Promise<UploadSlot> {
    const wanted = {
      claims: [{ name: client }],
      bytes,
      until: performance.now() + WAIT_MS,
    }
    return this.#enter(wanted) ?? this.#wait(wanted, signal?.())
  }

  async #wait(wanted: WaitingUpload, signal: AbortSignal | undefined): Promise<UploadSlot> {
    if (!this.#mayChange(wanted) || !this.#line.change(wanted.claims, 0, 1)) throw full()
    this.#waiting.add(wanted)
    try {
      while (this.#mayChange(wanted) && performance.now() < wanted.until && signal?.aborted !== true) {
        await new Promise(resolve => setTimeout(resolve, LOOK_MS))
        const slot = this.#enter(wanted)
        if (slot !== undefined) return slot
      }
      throw full()
    } finally {
      this.#leaveLine(wanted)
    }
  }

  #leaveLine(wanted: WaitingUpload): void {
    if (this.#waiting.delete(wanted)) this.#line.change(wanted.claims, 1, 0)
  }

  /** Takes a free slot, unless an upload that came earlier could have it. */
  #enter(wanted: WaitingUpload): UploadSlot | undefined {
    this.#expire()
    for (const other of this.#waiting) {
      if (other === wanted) break
      if (this.#fits(other)) return undefined
    }
    if (!this.#fits(wanted)) return undefined
    const { claims, bytes } = wanted
    this.#share.change(claims, 0, 1)
    this.#bytes.change(claims, 0, bytes)
    const slot: UploadSlot = new UploadSlot(bytes, {
      isWanted: () => this.#waiting.size > 0,
      resize: (from, to) => this.#bytes.change(claims, from, to),
      leave: held => {
        if (!this.#taken.delete(slot)) return
        this.#share.change(claims, 1, 0)
        this.#bytes.change(claims, held, 0)
      },
    })
    this.#taken.add(slot)
    return slot
  }

  #fits({ claims, bytes }: WantedSlot): boolean {
    return this.#share.allows(claims, 0, 1) && this.#bytes.allows(claims, 0, bytes)
  }

  /** Whether a slot may be free soon. Uploads that have arrived do not count: their runs can take as long as runs may. */
  #mayChange(wanted: WantedSlot): boolean {
    for (const { isArriving } of this.#taken) if (isArriving) return true
    // The earlier ones get it first.
    return this.#fits(wanted)
  }

  /** Releases the slots of requests that ended without notice, as a runtime may end them. */
  #expire(): void {
    const now = performance.now()
    for (const waiting of this.#waiting) if (waiting.until + LATE_MS < now) this.#leaveLine(waiting)
    for (const slot of this.#taken) {
      if (slot.takenAt >= now - this.#leaseMs) return
      slot.release()
    }
  }
}

/** The other slots, as one slot uses them. */
interface OtherSlots {
  /** Whether any upload waits. */
  readonly isWanted: () => boolean
  /** Changes its number of bytes, if there is room. */
  readonly resize: (from: number, to: number) => boolean
  readonly leave: (held: number) => void
}

/** The slot of one upload, until it is released. */
export class UploadSlot {
  readonly takenAt: number = performance.now()
  /** Whether its bytes are still arriving. */
  isArriving = true
  readonly #others: OtherSlots
  #held: number
  #size = 0
  /** The start and the bytes of the measured span, and whether the span before was slow. */
  #spanAt = this.takenAt
  #spanBytes = 0
  #wasSlow = false

  constructor(held: number, others: OtherSlots) {
    this.#held = held
    this.#others = others
  }

  /** Counts arrived bytes. Throws `rate_limited` if there is no room for undeclared ones. */
  add(bytes: number): void {
    this.#beginSpan()
    this.#spanBytes += bytes
    this.#size += bytes
    if (this.#size <= this.#held) return
    if (!this.#others.resize(this.#held, this.#size)) throw full()
    this.#held = this.#size
  }

  /** Call it now and then while bytes arrive. Throws `upload_too_slow` if others wait for a slow upload. */
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
