/** Requests of the page to admin routes. */
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
