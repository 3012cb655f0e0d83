/** Lets a closing server reach the runs of its handler. */

const DRAIN = Symbol.for('servable.drain')

/** Resolves once no run is at work. After `graceMs` milliseconds it cancels those that still are. */
export type Drain = (graceMs: number) => Promise<void>

/** Gives a handler its `drain`. */
export function withDrain<H extends object>(handler: H, drain: Drain): H {
  return Object.assign(handler, { [DRAIN]: drain })
}

/** The `drain` of a handler; undefined for other functions, such as one that wraps a handler. */
export function drainOf(handler: object): Drain | undefined {
  return (handler as { readonly [DRAIN]?: Drain })[DRAIN]
}
