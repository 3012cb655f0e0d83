/**
 * Finds the route of a request. This is the only file that knows itty-router, which compiles the patterns. Matching is done
 * here for three reasons: a miss must tell a wrong method (405 with `Allow`) from an unknown path, parameters must be
 * percent-decoded, and the request must not be changed.
 *
 * @module
 */

import { IttyRouter } from 'itty-router'
import { ServableError } from '../base/errors.ts'

/** The members of a route that the matcher needs. `GET` answers `HEAD` as well. */
export interface Findable {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Absolute, with `:name` for a parameter. */
  readonly path: string
}

/**
 * The match of a method and a path: a route; a path without this method, with its first route or, if it has no routes, its
 * territory; or nothing. A route of a path with broken percent-encoding has the error `invalid_path`.
 */
export type Match<R, T> =
  | { readonly found: 'route'; readonly route: R; readonly params: Params; readonly error?: ServableError }
  | { readonly found: 'path'; readonly at: R | T; readonly allow: readonly string[] }
  | undefined

/** Matches a method and an encoded path. */
export type Matcher<R, T> = (method: string, pathname: string) => Match<R, T>

/**
 * Compiles routes; the earlier one wins. A path below a territory that is not a route is a path without methods.
 */
export function createMatcher<R extends Findable, T extends Pick<Findable, 'path'>>(
  routes: readonly R[],
  territories: readonly T[] = [],
): Matcher<R, T> {
  const compiled = routes.map(route => ({ route, match: matchOf(route.path) }))
  return (method, pathname) => {
    const wanted = method === 'HEAD' ? 'GET' : method
    let others: R[] | undefined
    for (const { route, match } of compiled) {
      const params = match(pathname)
      if (params === undefined) continue
      if (route.method === wanted) return { found: 'route', route, ...decode(params) }
      others ??= []
      others.push(route)
    }
    const first = others?.[0]
    if (first !== undefined) return { found: 'path', at: first, allow: allowOf(others ?? []) }
    const territory = territories.find(({ path }) => isBelow(path, pathname))
    return territory && { found: 'path', at: territory, allow: [] }
  }
}

/** Whether an encoded path is a territory's or leads into it. */
export function isBelow(territory: string, pathname: string): boolean {
  return `${pathname}/`.startsWith(territory === '/' ? territory : `${territory}/`)
}

/** The encoded path of an absolute URL, without parsing all of it. */
export function pathnameOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const query = url.indexOf('?', start)
  const end = query === -1 ? url.length : query
  const fragment = url.indexOf('#', start)
  return url.slice(start, fragment === -1 ? end : Math.min(end, fragment))
}

/** The query of an absolute URL, without parsing all of it. */
export function queryOf(url: string): URLSearchParams {
  const [, query] = /^[^?#]*(\?[^#]*)/.exec(url) ?? []
  return new URLSearchParams(query)
}

/** Joins path segments: one slash between them, none at the end. */
export function joinPath(...segments: readonly string[]): string {
  return `/${segments.join('/')}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
}

/** Compiles the pattern when a path first has its beginning: a Worker starts for one request, not for all routes. */
function matchOf(path: string): (pathname: string) => Params | undefined {
  const [beginning = ''] = path.split(':', 1)
  let compiled: Compiled | undefined
  return pathname => {
    if (!pathname.startsWith(beginning)) return undefined
    compiled ??= compile(path)
    const found = compiled.pattern.exec(pathname)
    if (found === null) return undefined
    const { names } = compiled
    const params: Record<string, string> = {}
    for (let index = 0; index < names.length; index++) params[names[index]!] = found[index + 1]!
    return params
  }
}

/** Parameters by name. */
type Params = Readonly<Record<string, string>>

/** A pattern whose groups are the parameters, in the order of their names. */
interface Compiled {
  readonly pattern: RegExp
  readonly names: readonly string[]
}

/** Compiles a path with itty-router, without named groups, which would cost more than the rest of a match. */
function compile(path: string): Compiled {
  const router = IttyRouter()
  router.all(path, () => {})
  // itty-router stores a route as [method, pattern, handlers, path].
  const { source } = router.routes[0]![1]
  const names = Array.from(source.matchAll(/\(\?<(\w+)>/g), ([, name]) => name!)
  return { names, pattern: new RegExp(source.replace(/\((?!\?)/g, '(?:').replace(/\(\?<\w+>/g, '(')) }
}

/** Undoes percent-encoding. */
function decode(params: Params): { params: Params; error?: ServableError } {
  const decoded: Record<string, string> = {}
  for (const name in params) {
    const value = params[name]!
    try {
      decoded[name] = value.includes('%') ? decodeURIComponent(value) : value
    } catch (cause) {
      const message = `The path's \`${name}\` has broken percent-encoding`
      return { params, error: new ServableError('invalid_path', message, { cause }) }
    }
  }
  return { params: decoded }
}

/** The methods of a path, including `OPTIONS`. */
function allowOf(routes: readonly Findable[]): string[] {
  const methods = new Set<string>(['OPTIONS'])
  for (const { method } of routes) {
    methods.add(method)
    if (method === 'GET') methods.add('HEAD')
  }
  return [...methods].sort()
}
