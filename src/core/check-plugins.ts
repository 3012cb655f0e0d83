/**
 * Checks plugins before any request: whether each can be mounted, and whether they go together.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Mounted } from './plugin.ts'

/** Checks what `mount` returned, whatever its type says. Throws `invalid_options`. */
export function checkMounted<M extends Pick<Mounted, 'base'> & { readonly routes?: readonly unknown[] }>(
  mounted: M,
): M {
  if (mounted instanceof Promise) throw new TypeError('`mount` must not be async')
  for (const { method, path, endpoint } of (mounted.routes ?? []).map(Object)) {
    if (/^(GET|POST|PATCH|DELETE)$/.test(method) && isPath(path) && typeof endpoint === 'function') continue
    throw new TypeError(
      `\`${method} ${path}\` must have the method GET, POST, PATCH or DELETE, a path that begins with a slash, and an endpoint`,
    )
  }
  const { base } = mounted
  if (base === undefined || (isPath(base.path) && !base.path.includes(':'))) return mounted
  throw new TypeError('`base.path` must be a path that begins with a slash and has no parameters')
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/')
}

/** A path and its owner. */
export interface OwnedPath {
  readonly owner?: string
  readonly path: string
  /** The HTTP method. Absent: a base path. */
  readonly method?: string
}

/**
 * Throws `invalid_options` for a route that can never answer because an earlier one does, and for a route below the base path of
 * another plugin, whose guard it would not expect. `bases` are those with a guard.
 */
export function checkPaths(routes: readonly OwnedPath[], bases: readonly OwnedPath[]): void {
  const known = new Map<string, (readonly [OwnedPath, readonly string[]])[]>()
  for (const route of routes) {
    const steps = stepsOf(route.path)
    const where = `${route.method} ${steps.length}`
    const alike = known.get(where) ?? []
    const first = alike.find(([, others]) => others.every((step, at) => step === ':' || step === steps[at]))
    if (first !== undefined) collide(first[0], route, `both answer ${route.method} ${route.path}`)
    alike.push([route, steps])
    known.set(where, alike)
  }
  for (const base of bases) {
    const steps = stepsOf(base.path)
    for (const other of [...routes, ...bases]) {
      if (other.owner === base.owner || !mayBeBelow(stepsOf(other.path), steps)) continue
      collide(
        base,
        other,
        `both serve ${[other.method, other.path].join(' ').trim()}, at or below ${base.path}`,
      )
    }
  }
}

/** The segments of a path. All parameters count as equal, whatever their names. */
function stepsOf(path: string): string[] {
  return path === '/' ? [''] : path.replace(/:\w+/g, ':').split('/')
}

function mayBeBelow(steps: readonly string[], base: readonly string[]): boolean {
  return base.every((step, at) => {
    const [beginning = '', parameter] = steps[at]?.split(':') ?? []
    return parameter === undefined ? steps[at] === step : step.startsWith(beginning)
  })
}

function collide(one: OwnedPath, other: OwnedPath, what: string): never {
  const [first, second] = [one, other].map(({ owner }) => (owner === undefined ? 'the core' : `\`${owner}\``))
  throw new ServableError(
    'invalid_options',
    `\`plugins\`: ${first} and ${second} ${what}: give one of them another path`,
  )
}
