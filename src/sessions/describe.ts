import type { Builders, BuiltInDescription } from '../core/builders.ts'

/** Tells of the routes. */
export function describeSessions(_: Builders): BuiltInDescription {
  return {}
}
