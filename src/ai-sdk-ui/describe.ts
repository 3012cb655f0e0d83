import type { Builders, BuiltInDescription } from '../core/builders.ts'

/** Tells of the routes. */
export function describeChats(_: Builders): BuiltInDescription {
  return {}
}
