/** Returns the defaults, overridden by the given members. A member that is undefined counts as not given. */
export function withDefaults<D extends object>(defaults: D, given: Partial<D> | undefined): D {
  const result = { ...defaults }
  for (const key in given) if (given[key] !== undefined) result[key] = given[key]
  return result
}
