/**
 * Where the page is: the part of the address after `#`. So any prefix works, and no id is in a log of the server.
 *
 * @module
 */

import { signal } from '@preact/signals'

/** A screen (empty: the first one), what it shows, and how. `#/runs/7c1e?status=failed` is the screen `runs` with the path `['7c1e']`. */
export interface Place {
  readonly screen: string
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** Where the page is. */
export const place = signal<Place>(read())

/** Whether the page has been anywhere else before. */
export let hasMoved = false

addEventListener('hashchange', () => {
  hasMoved = true
  place.value = read()
})

/** The address of a place, for links. */
export function linkTo(
  screen: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const text = new URLSearchParams(query).toString()
  return `#/${[screen, ...path].map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

/** Goes to a place. */
export function goTo(...to: Parameters<typeof linkTo>): void {
  location.hash = linkTo(...to)
}

function read(): Place {
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
