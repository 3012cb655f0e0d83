/**
 * Tokens for parts of the service with an authentication of their own. Each is only in a variable, and is forgotten after 15
 * minutes.
 *
 * @module
 */

import { type Signal, signal } from '@preact/signals'
import type { Right } from '../../src/http/security/rights.ts'
import { codeOf, config } from '../service.ts'

const KEPT_MS = 15 * 60_000

/** A token of one part. */
export interface PartToken {
  /** Undefined until it is given. Empty if the part needs none. */
  readonly value: Signal<string | undefined>
  /** Whether the last token was refused. */
  readonly isRefused: Signal<boolean>
  /** Whether requests can be sent: a token was given, or the role of the user has the right. */
  isOpen(right: Right): boolean
  /** Uses a token from now on. Undefined forgets it. */
  keep(token: string | undefined): void
  /** Sends a request with the token. A refused token is forgotten. */
  ask<T>(send: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>
}

function createToken(): PartToken {
  const value = signal<string | undefined>(undefined)
  const isRefused = signal(false)
  const isShut = signal(false)
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
    isOpen: right => value.value !== undefined || (!isShut.value && config.value.rights.includes(right)),
    keep,
    async ask(send) {
      const token = value.value
      try {
        return await send(token ? { authorization: `Bearer ${token}` } : {})
      } catch (error) {
        // The part wants a token of its own, whatever role one has.
        if (token === undefined && codeOf(error) === 'unauthorized') isShut.value = true
        // A late answer does not affect a newer token.
        if (token !== undefined && codeOf(error) === 'unauthorized' && value.value === token) {
          keep(undefined)
          isRefused.value = true
        }
        throw error
      }
    },
  }
}

/** The token of administrators. */
export const ofAdmin: PartToken = createToken()

/** The token of the metrics, if their `authenticate` needs one. */
export const ofMetrics: PartToken = createToken()
