/**
 * The route of the page: the part of the address after `#`. So any prefix works, and no id is in a log of the server.
 *
 * @module
 */

import { signal } from '@preact/signals'

/**
 * A screen (empty: the first one), its path, and its query. `#/runs/7c1e?status=failed` is the screen `runs` with the path
 * `['7c1e']`.
 */
export interface Route {
  readonly screen: string
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** The current route. */
export const route = signal<Route>(read())

/** Whether the user has navigated within the page before. */
export let hasMoved = false

addEventListener('hashchange', () => {
  hasMoved = true
  route.value = read()
})

/** The address of a route, for links. */
export function linkTo(
  screen: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const text = new URLSearchParams(query).toString()
  return `#/${[screen, ...path].map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

/** Navigates to a route. */
export function goTo(...to: Parameters<typeof linkTo>): void {
  location.hash = linkTo(...to)
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [screen = '', ...rest] = path.split('/').map(decode)
  return {
    screen,
    path: rest.filter(each => each !== ''),
    query: new URLSearchParams(query),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
