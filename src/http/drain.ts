/** How a server that closes reaches the runs of its handler. */

const DRAIN = Symbol.for('servable.drain')

/** Resolves once no run is at work; after `graceMs` milliseconds those that are get cancelled. */
export type Drain = (graceMs: number) => Promise<void>

/** Gives a handler its `drain`. */
export function withDrain<H extends object>(handler: H, drain: Drain): H {
  return Object.assign(handler, { [DRAIN]: drain })
}

/** The `drain` of a handler; undefined where it is other code's, such as a function around a handler. */
export function drainOf(handler: object): Drain | undefined {
  return (handler as { readonly [DRAIN]?: Drain })[DRAIN]
}
