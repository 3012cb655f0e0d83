/** The defaults, with what is given in their place. A member that is given as undefined counts as not given. */
export function withDefaults<D extends object>(defaults: D, given: Partial<D> | undefined): D {
  const result = { ...defaults }
  for (const key in given) if (given[key] !== undefined) result[key] = given[key]
  return result
}
