/**
 * `GET {prefix}`: links to the mounted routes.
 *
 * @module
 */

import { jsonReply } from '../../web/reply.ts'
import type { Route } from '../context.ts'

/** A link in HAL's form. A templated one is a URI template (RFC 6570). */
export interface Link {
  readonly href: string
  readonly templated?: true
}

/** Links by the names of their targets. */
export type Links = Readonly<Record<string, Link>>

/** The links to those named paths that have a route. */
export function linksTo(paths: Readonly<Record<string, string>>, routes: readonly Route[]): Links {
  const mounted = new Set(routes.map(({ path }) => path))
  const links = Object.entries(paths).filter(([, path]) => mounted.has(path))
  return Object.fromEntries(links.map(([name, path]) => [name, toLink(path)]))
}

function toLink(path: string): Link {
  if (!path.includes(':')) return { href: path }
  return { href: path.replace(/:(\w+)/g, '{$1}'), templated: true }
}

/** Makes the route. */
export function indexRoute(path: string, links: Links): Route {
  return {
    method: 'GET',
    path,
    part: 'router',
    endpoint: () => jsonReply({ _links: { self: { href: path }, ...links } }),
  }
}

/**
 * The `Link` header of a `not_found` response (RFC 8288): the index, and the documentation (RFC 8631). Undefined if there is
 * neither.
 */
export function linkHeader(index: string | undefined, { docs, spec }: Links): string | undefined {
  const links = [
    ...(index === undefined ? [] : [`<${index}>; rel="index"`]),
    ...(docs === undefined ? [] : [`<${docs.href}>; rel="service-doc"`]),
    ...(spec === undefined ? [] : [`<${spec.href}>; rel="service-desc"`]),
  ]
  return links.length === 0 ? undefined : links.join(', ')
}
