/**
 * The clock of the tests of this process: it goes on by itself, and can be set forward.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'

/** The most timers that one `advance` fires. */
const MAX_FIRED = 100_000

/** The longest delay of a timer: 31 bits of milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Turns of the event loop in which what a timer began comes to where it waits again. */
const TURNS = 4

/** The operations of Web Crypto that the service uses. */
const CRYPTO = ['digest', 'sign', 'verify', 'importKey', 'encrypt', 'decrypt', 'deriveBits'] as const

/** What the clock changes, as it was before. */
interface Platform {
  readonly Date: DateConstructor
  readonly setTimeout: typeof setTimeout
  readonly clearTimeout: typeof clearTimeout
  readonly setInterval: typeof setInterval
  readonly clearInterval: typeof clearInterval
}

/** A timer of the code under test. */
interface Timer {
  due: number
  /** The milliseconds between two fires of an interval. Undefined for a timer that fires once. */
  readonly every: number | undefined
  readonly fire: () => void
  /** The timer that its maker has. */
  readonly handle: Handle
  /** The one that fires it since the clock was set forward. */
  moved: Handle | undefined
}

type Handle = ReturnType<typeof setTimeout>

/** A clock that several services of a process share. */
export interface TestClock {
  /** Calls `work` after real time, which no `advance` changes. Returns a function that cancels that. */
  readonly after: (ms: number, work: () => void) => () => void
  /**
   * Sets the clock forward by `ms` milliseconds, timer by timer: each timer that is due fires at its own time. Rejects with
   * `invalid_options` for anything but a number of 0 or more, and if more than 100,000 timers are due.
   */
  advance(ms: number): Promise<void>
  /** Gives the clock back. The last one gets the platform's own clock again. */
  release(): void
}

class Clock {
  users = 0
  readonly #real: Platform
  readonly #now: () => number
  readonly #ticks: () => number
  readonly #timers = new Map<unknown, Timer>()
  #ahead = 0
  /** Operations of Web Crypto at work: what waits for them waits for no timer. */
  #atWork = 0
  /** Advances happen one after another. */
  #last: Promise<void> = Promise.resolve()

  constructor() {
    const { Date: date, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
    this.#real = { Date: date, setTimeout, clearTimeout, setInterval, clearInterval }
    this.#now = () => date.now() + this.#ahead
    const ticks = performance.now.bind(performance)
    this.#ticks = () => ticks() + this.#ahead
  }

  /** Puts the clock in the place of the platform's. Returns what undoes that. */
  install(): () => void {
    const { Date: date, ...real } = this.#real
    const now = this.#now
    const stop = (id: unknown) => this.#stop(id)
    const own = {
      Date: new Proxy(date, {
        apply: () => new date(now()).toString(),
        construct: (target, given, maker) =>
          Reflect.construct(target, given.length === 0 ? [now()] : given, maker) as object,
        get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
      }),
      setTimeout: Object.assign(
        (work: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
          this.#start(() => work(...given), ms, false),
        // Node has its promises there.
        real.setTimeout,
      ),
      setInterval: (work: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
        this.#start(() => work(...given), ms, true),
      clearTimeout: stop,
      clearInterval: stop,
    }
    Object.assign(globalThis, own)
    const { subtle } = crypto
    for (const name of CRYPTO) {
      const value = (...given: unknown[]) =>
        this.#count(Reflect.apply(SubtleCrypto.prototype[name], subtle, given))
      Object.defineProperty(subtle, name, { value, configurable: true, writable: true })
    }
    const has = Object.getOwnPropertyDescriptor(performance, 'now')
    Object.defineProperty(performance, 'now', { value: this.#ticks, configurable: true, writable: true })
    return () => {
      for (const name of CRYPTO) Reflect.deleteProperty(subtle, name)
      // Whoever has replaced them since then keeps what it put there.
      for (const [name, value] of Object.entries(own)) {
        if (Reflect.get(globalThis, name) === value)
          Object.assign(globalThis, { [name]: Reflect.get(this.#real, name) })
      }
      if (performance.now !== this.#ticks) return
      if (has === undefined) Reflect.deleteProperty(performance, 'now')
      else Object.defineProperty(performance, 'now', has)
    }
  }

  #count(result: Promise<unknown>): Promise<unknown> {
    this.#atWork++
    return result.finally(() => this.#atWork--)
  }

  #start(work: () => void, delay: number | undefined, repeats: boolean): Handle {
    const asked = Number(delay)
    const ms = asked >= 1 && asked <= MAX_DELAY_MS ? asked : 1
    const fire = () => {
      if (!repeats) this.#timers.delete(handle)
      work()
    }
    const onTime = () => {
      const timer = this.#timers.get(handle)
      if (timer?.moved !== undefined) return
      if (timer?.every !== undefined) timer.due += timer.every
      fire()
    }
    const handle = repeats
      ? (this.#real.setInterval(onTime, ms) as unknown as Handle)
      : this.#real.setTimeout(onTime, ms)
    const every = repeats ? ms : undefined
    this.#timers.set(handle, { due: this.#now() + ms, every, fire, handle, moved: undefined })
    return handle
  }

  #stop(id: unknown): void {
    const timer = this.#timers.get(id) ?? this.#timers.get(Number(id))
    this.#real.clearTimeout(id as Handle)
    if (timer === undefined) return
    this.#timers.delete(timer.handle)
    if (timer.moved !== undefined) this.#real.clearTimeout(timer.moved)
  }

  after(ms: number, work: () => void): () => void {
    const timer = this.#real.setTimeout(work, ms)
    return () => this.#real.clearTimeout(timer)
  }

  advance(ms: number): Promise<void> {
    const done = this.#last.then(() => this.#move(ms))
    this.#last = done.catch(() => {})
    return done
  }

  async #move(ms: number): Promise<void> {
    if (!(Number.isFinite(ms) && ms >= 0))
      throw new ServableError('invalid_options', '`advance` needs milliseconds: a number of 0 or more')
    const until = this.#now() + ms
    await this.#settled()
    for (let fired = 0; ; fired++) {
      const next = this.#next(until)
      if (next === undefined) break
      if (fired === MAX_FIRED)
        throw new ServableError(
          'invalid_options',
          `\`advance(${ms})\` fires more than ${MAX_FIRED.toLocaleString('en')} timers: advance less at once`,
        )
      this.#goTo(next.due)
      this.#fire(next)
      await this.#settled()
    }
    this.#goTo(until)
    for (const timer of this.#timers.values()) this.#rearm(timer)
    await this.#settled()
  }

  /** Resolves once what runs now waits for a timer, or for something outside of JavaScript. */
  async #settled(): Promise<void> {
    for (let turns = 0; turns < TURNS; turns++) {
      await turn()
      if (this.#atWork > 0) turns = 0
    }
  }

  /** The first timer that is due by then. */
  #next(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers.values()) {
      if (timer.due <= until && timer.due < (first?.due ?? Number.POSITIVE_INFINITY)) first = timer
    }
    return first
  }

  #goTo(at: number): void {
    this.#ahead += Math.max(0, at - this.#now())
  }

  #fire(timer: Timer): void {
    if (timer.every === undefined) {
      this.#stop(timer.handle)
    } else {
      timer.due += timer.every
      this.#rearm(timer)
    }
    try {
      timer.fire()
    } catch (error) {
      // As a timer of the platform does: its error is nobody's here.
      this.#real.setTimeout(() => {
        throw error
      }, 0)
    }
  }

  /** Lets a timer fire at its time by the clock that was set forward. */
  #rearm(timer: Timer): void {
    if (timer.moved !== undefined) this.#real.clearTimeout(timer.moved)
    const isKept = (timer.handle as { hasRef?(): boolean }).hasRef?.() ?? true
    timer.moved = this.#real.setTimeout(
      () => {
        if (timer.every !== undefined) {
          timer.due += timer.every
          this.#rearm(timer)
        } else this.#real.clearTimeout(timer.handle)
        timer.fire()
      },
      Math.min(Math.max(1, timer.due - this.#now()), MAX_DELAY_MS),
    )
    if (!isKept) (timer.moved as { unref?(): void }).unref?.()
  }
}

function turn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => void }
  if (setImmediate !== undefined) return new Promise(resolve => setImmediate(resolve))
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

const CLOCK = Symbol.for('servable.test-clock')

/** What services share, at a place that two copies of this module have in common. */
interface Shared {
  readonly clock: Clock
  readonly undo: () => void
}

/** Takes the clock of the process. The first user puts it in the place of the platform's. */
export function takeClock(): TestClock {
  const scope = globalThis as { [CLOCK]?: Shared | undefined }
  if (scope[CLOCK] === undefined) {
    const clock = new Clock()
    scope[CLOCK] = { clock, undo: clock.install() }
  }
  const shared = scope[CLOCK]
  const { clock } = shared
  clock.users++
  let isReleased = false
  return {
    after: (ms, work) => clock.after(ms, work),
    advance: ms => clock.advance(ms),
    release() {
      if (isReleased) return
      isReleased = true
      if (--clock.users > 0) return
      shared.undo()
      scope[CLOCK] = undefined
    },
  }
}
