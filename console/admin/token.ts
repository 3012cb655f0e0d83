/**
 * Tokens for parts of the service that ask for one of their own, other than that of the user. Each is in a variable alone, and forgotten
 * after 15 minutes.
 *
 * @module
 */

import { type Signal, signal } from '@preact/signals'
import { codeOf } from '../service.ts'

const KEPT_MS = 15 * 60_000

/** A token of one part. */
export interface PartToken {
  /** Undefined until it is given. Empty where the part asks for none. */
  readonly value: Signal<string | undefined>
  /** It was not accepted. */
  readonly isRefused: Signal<boolean>
  /** Uses a token from now on; undefined forgets it. */
  keep(token: string | undefined): void
  /** Asks with it. One that is not accepted is forgotten. */
  ask<T>(send: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>
}

function createToken(): PartToken {
  const value = signal<string | undefined>(undefined)
  const isRefused = signal(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  const keep = (token: string | undefined) => {
    clearTimeout(timer)
    value.value = token
    isRefused.value = false
    if (token !== undefined) timer = setTimeout(() => keep(undefined), KEPT_MS)
  }
  return {
    value,
    isRefused,
    keep,
    async ask(send) {
      const token = value.value
      try {
        return await send(token ? { authorization: `Bearer ${token}` } : {})
      } catch (error) {
        // A late answer says nothing of a token that was given since.
        if (token !== undefined && codeOf(error) === 'unauthorized' && value.value === token) {
          keep(undefined)
          isRefused.value = true
        }
        throw error
      }
    },
  }
}

/** That of administrators. */
export const ofAdmin: PartToken = createToken()

/** That of the metrics, where their `authenticate` asks for one. */
export const ofMetrics: PartToken = createToken()
