/**
 * Checks what comes with a key: requests, and the runs that they start over whatever transport.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { RequestState } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import type { Scope } from '../../http/security/scopes.ts'
import type { Permit } from '../../runs/permit.ts'
import { isLive, type KeptKey } from './kept.ts'
import type { Keyring } from './keyring.ts'
import type { KeyRates } from './rates.ts'
import { mayDo, onlyOf } from './scopes.ts'

/** What a check needs. */
export interface KeyCheckParts {
  readonly ring: Keyring
  readonly rates: KeyRates
  /** Keeps the isolate alive for a write. Undefined: the process lives on. */
  readonly hold: ((work: Promise<unknown>) => void) | undefined
}

/** The check of a handler. */
export class KeyCheck {
  readonly ring: Keyring
  readonly #rates: KeyRates
  readonly #hold: KeyCheckParts['hold']

  constructor({ ring, rates, hold }: KeyCheckParts) {
    this.ring = ring
    this.#rates = rates
    this.#hold = hold
  }

  /**
   * Whose request it is; undefined for a text that is no key, or none that is good. Throws `insufficient_scope`, `rate_limited` and
   * `state_unavailable`.
   */
  async admit(text: string, context: RequestState): Promise<Identity | undefined> {
    const key = await this.ring.check(text)
    if (key === undefined) return undefined
    const { id, owner, scopes } = key
    // A request that is refused is counted, too.
    await this.#rates.take(key, context)
    checkScopes(scopes, context.scope)
    const writing = this.ring.use(key)
    if (writing !== undefined) (this.#hold ?? context.waitUntil)(writing)
    return { id: owner, scopes, keyId: id }
  }

  /** Whether the key of an identity is still good, whatever it may do. */
  async isGood(identity: Identity): Promise<boolean> {
    return (await this.#goodKey(identity)) !== undefined
  }

  async #goodKey({ id, keyId }: Identity): Promise<KeptKey | undefined> {
    const key = keyId === undefined ? undefined : await this.ring.find(keyId)
    return key?.owner === id && isLive(key, Date.now()) ? key : undefined
  }

  /** What may be run with a key. It is looked at again for each run: a socket may be open for longer than its key is good. */
  readonly permit: Permit = async ({ identity, transport }) => {
    if (identity?.keyId === undefined) return undefined
    const key = await this.#goodKey(identity)
    if (key === undefined) throw new ServableError('unauthorized', 'The key is revoked or has expired')
    checkScopes(key.scopes, 'run')
    // A request was counted when it came.
    if (transport === 'socket') await this.#rates.take(key)
    return onlyOf(key.scopes)
  }
}

function checkScopes(scopes: readonly string[], need: Scope): void {
  if (mayDo(scopes, need)) return
  throw new ServableError('insufficient_scope', `The key needs the scope \`${need}\``)
}
