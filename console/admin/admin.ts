/**
 * The service as its administrator asks it. The token is another one than that of the user. It is in a variable alone, and forgotten
 * after 15 minutes.
 *
 * @module
 */

import { signal } from '@preact/signals'
import { ask, codeOf } from '../service.ts'

const KEPT_MS = 15 * 60_000

/** Undefined until it is given. Empty where the service asks for none. */
export const adminToken = signal<string | undefined>(undefined)

/** The token was not accepted. */
export const isRefused = signal(false)

let timer: ReturnType<typeof setTimeout> | undefined

/** Uses a token from now on; undefined forgets it. */
export function keepToken(token: string | undefined): void {
  clearTimeout(timer)
  adminToken.value = token
  isRefused.value = false
  if (token !== undefined) timer = setTimeout(() => keepToken(undefined), KEPT_MS)
}

/** Asks one of the admin routes. */
export function askAdmin<T>(path: string, init?: RequestInit): Promise<T> {
  return askAsAdmin(`/admin${path}`, init)
}

/** Asks a route that is for administrators. A token that is not accepted is forgotten. */
export async function askAsAdmin<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers)
  const token = adminToken.value
  if (token) headers.set('authorization', `Bearer ${token}`)
  try {
    return await ask(path, { ...init, headers })
  } catch (error) {
    // A late answer says nothing of a token that was given since.
    if (codeOf(error) === 'unauthorized' && adminToken.value === token) {
      keepToken(undefined)
      isRefused.value = true
    }
    throw error
  }
}
