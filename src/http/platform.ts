const BRAND = Symbol.for('servable.platform')

/** What a runtime knows of a request beyond the request itself. Made by the entries of `runtimes/`. */
export interface Platform {
  /** The client's address, where the runtime itself vouches for it. */
  readonly ip?: string | undefined
  /** Keeps the runtime alive until a promise settles, after the response too. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
  /** Requests of one deployment do not share memory: what is kept there is not found again. */
  readonly isIsolated?: boolean | undefined
}

/**
 * Brands a platform object, so that the handler can tell it from what runtimes pass as a second argument of their
 * own (Bun its server, Deno its info, Workers their bindings, Next its params).
 */
export function platform<P extends Platform>(members: P): P {
  return Object.assign(members, { [BRAND]: true })
}

const NONE: Platform = {}

/** The platform in a handler's second argument; an empty one where it is something else. */
export function platformOf(argument: unknown): Platform {
  const isOurs = typeof argument === 'object' && argument !== null && BRAND in argument
  return isOurs ? (argument as Platform) : NONE
}
