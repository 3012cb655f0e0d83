/**
 * Templates of addresses: text with variables such as `{id}` (RFC 6570, level 1).
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'

/** Most characters of an address. */
const MAX_URI = 2000

/** Finds the variables of an address. */
export interface Template {
  readonly variables: readonly string[]
  /** The decoded values by variable. Undefined for another address. */
  match(uri: string): Readonly<Record<string, string>> | undefined
}

/** Reads a template. An address without variables matches itself. Throws `invalid_options`. */
export function templateOf(text: string): Template {
  const parts = text.split(/[{}]/)
  const isBalanced = parts.length % 2 === 1 && text.replace(/[^{}]/g, '') === '{}'.repeat(parts.length >> 1)
  const variables = parts.filter((_, at) => at % 2 === 1)
  const literals = parts.filter((_, at) => at % 2 === 0)
  const isApart = literals.slice(1, -1).every(literal => literal !== '')
  const isKnown = variables.every((name, at) => /^\w{1,50}$/.test(name) && variables.indexOf(name) === at)
  if (!isBalanced || !isApart || !isKnown || !/^[a-z][\w+.-]*:\S+$/i.test(text) || text.length > MAX_URI) {
    throw new ServableError(
      'invalid_options',
      `\`${text.slice(0, 100)}\` must be an address with a scheme; variables such as \`{id}\` have names of their own and text between them`,
    )
  }
  return {
    variables,
    match(uri) {
      if (uri.length > MAX_URI) return undefined
      const values = valuesIn(uri, literals)
      const decoded = values?.map(partOf)
      if (decoded === undefined || decoded.includes(undefined)) return undefined
      return Object.fromEntries(variables.map((name, at) => [name, decoded[at] as string]))
    },
  }
}

/** The texts between literals, each as short as it can be. Linear in the length of the address. */
function valuesIn(uri: string, [first = '', ...others]: readonly string[]): string[] | undefined {
  if (!uri.startsWith(first)) return undefined
  const values: string[] = []
  let from = first.length
  for (const [at, literal] of others.entries()) {
    const isLast = at === others.length - 1
    const to = isLast ? uri.length - literal.length : uri.indexOf(literal, from)
    if (to < from || !uri.startsWith(literal, to)) return undefined
    values.push(uri.slice(from, to))
    from = to + literal.length
  }
  return from === uri.length ? values : undefined
}

/** Decodes a value. Undefined if it is empty, not encoded rightly, or would be more than one piece of a path. */
function partOf(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return value === '' || /^\.\.?$|[/\\?#\0]/.test(value) || /[/?#]/.test(text) ? undefined : value
  } catch {
    return undefined
  }
}
