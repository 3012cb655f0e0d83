/**
 * The service as its administrator asks it. The token is another one than that of the user. It is in a variable alone, and forgotten
 * after 15 minutes.
 *
 * @module
 */

import { signal } from '@preact/signals'
import { ask } from '../service.ts'

const KEPT_MS = 15 * 60_000

/** Undefined until it is given. Empty where the service asks for none. */
export const adminToken = signal<string | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined

/** Uses a token from now on; undefined forgets it. */
export function keepToken(token: string | undefined): void {
  clearTimeout(timer)
  adminToken.value = token
  if (token !== undefined) timer = setTimeout(() => keepToken(undefined), KEPT_MS)
}

/** Asks one of the admin routes. */
export function askAdmin<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers)
  if (adminToken.value) headers.set('authorization', `Bearer ${adminToken.value}`)
  return ask(`/admin${path}`, { ...init, headers })
}
