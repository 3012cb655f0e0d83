/**
 * Looks again at the key of a socket that is open.
 *
 * @module
 */

import { isServableError } from '../../../base/errors.ts'
import type { Identity } from '../../../http/platform.ts'
import type { Permit } from '../../../runs/permit.ts'

/** Milliseconds from one look to the next: a client may send more pongs than it got pings. */
const LOOK_MS = 1000

/** What is said of a key that is revoked, has expired, or may run nothing any more. */
const OF_KEYS: ReadonlySet<string> = new Set(['unauthorized', 'insufficient_scope'])

/** Looks at the key of one socket. */
export class KeyWatch {
  readonly #permit: Permit | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(permit: Permit | undefined) {
    this.#permit = permit
  }

  /** Calls `letGo` where the key is not good any more. A look that fails ends nothing. */
  async check(identity: Identity | undefined, letGo: () => void): Promise<void> {
    if (identity?.keyId === undefined || this.#permit === undefined) return
    if (performance.now() < this.#lookedAt + LOOK_MS) return
    this.#lookedAt = performance.now()
    try {
      await this.#permit({ identity })
    } catch (error) {
      if (isServableError(error) && OF_KEYS.has(error.code)) letGo()
    }
  }
}
