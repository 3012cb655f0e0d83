/** Requests of the page to admin routes. */
import { type Pages, usePages } from '../pages.ts'
import { ask } from '../service.ts'
import { ofAdmin } from './token.ts'

/** Sends a request to one of the admin routes. */
export function askAdmin<T>(path: string, init?: RequestInit): Promise<T> {
  return askAsAdmin(`/admin${path}`, init)
}

/** Sends a request with the administrator's token. */
export function askAsAdmin<T>(path: string, init: RequestInit = {}): Promise<T> {
  return ofAdmin.ask(own => {
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(own)) headers.set(name, value)
    return ask(path, { ...init, headers })
  })
}

/** The pages of a list that `member` of the answers has. `query` chooses among its things. */
export function useListed<T>(
  member: string,
  path: string,
  send: typeof askAsAdmin = askAsAdmin,
  query: Readonly<Record<string, string | undefined>> = {},
): Pages<T> {
  const asked = Object.entries(query).filter((each): each is [string, string] => Boolean(each[1]))
  return usePages<T>(`${path} ${new URLSearchParams(asked)}`, async (cursor, signal) => {
    const all = new URLSearchParams([...asked, ...(cursor === undefined ? [] : [['cursor', cursor]])])
    const answer = await send<object>(all.size > 0 ? `${path}?${all}` : path, { signal })
    const { [member]: items, nextCursor = null } = Object(answer)
    return { items: Array.isArray(answer) ? answer : items, nextCursor }
  })
}

/** The items with one of them changed. */
export function replacedBy<T>(next: T, isIt: (item: T) => boolean): (items: readonly T[]) => readonly T[] {
  return items => items.map(each => (isIt(each) ? next : each))
}
