/**
 * Checks the key of an open socket again from time to time.
 *
 * @module
 */

import { isServableError } from '../../../base/errors.ts'
import type { Identity } from '../../../http/platform.ts'
import type { Permit } from '../../../runs/permit.ts'

/** Least milliseconds between two checks. A client may send more pongs than it got pings. */
const CHECK_MS = 1000

/** The error codes of a key that is revoked, has expired, or may run nothing any more. */
const OF_KEYS: ReadonlySet<string> = new Set(['unauthorized', 'insufficient_scope'])

/** Checks the key of one socket. */
export class KeyWatch {
  readonly #permit: Permit | undefined
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(permit: Permit | undefined) {
    this.#permit = permit
  }

  /** Calls `onInvalid` if the key is no longer valid. A check that fails for another reason has no effect. */
  async check(identity: Identity | undefined, onInvalid: () => void): Promise<void> {
    if (identity?.keyId === undefined || this.#permit === undefined) return
    if (performance.now() < this.#checkedAt + CHECK_MS) return
    this.#checkedAt = performance.now()
    try {
      await this.#permit({ identity })
    } catch (error) {
      if (isServableError(error) && OF_KEYS.has(error.code)) onInvalid()
    }
  }
}
