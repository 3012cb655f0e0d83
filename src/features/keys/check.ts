/**
 * Checks the keys of requests, and of the runs that they start over any transport.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Context, RequestState } from '../../http/context.ts'
import { type CountRequest, countAgainst } from '../../http/limits/rate-limit.ts'
import { type Identity, identityOf } from '../../http/platform.ts'
import type { AccessScope } from '../../http/security/scopes.ts'
import type { Permit } from '../../runs/permit.ts'
import { isLive, type KeptKey, type Rate } from './kept.ts'
import { BoundedMap, type Keyring } from './keyring.ts'
import { mayDo, onlyOf } from './scopes.ts'

/** The parts of a check. */
export interface KeyCheckParts {
  readonly ring: Keyring
  readonly rates: KeyRates
  /** Keeps the isolate alive for a write. Undefined in a process that stays alive. */
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
   * The identity of a request. Undefined for a text that is not a valid key. Throws `insufficient_scope`, `rate_limited` and
   * `state_unavailable`.
   */
  async admit(text: string, context: RequestState): Promise<Identity | undefined> {
    const key = await this.ring.check(text)
    if (key === undefined) return undefined
    const { id, owner, scopes, roles } = key
    // Refused requests are counted, too.
    await this.#rates.take(key, context)
    checkScopes(scopes, context.scope)
    const writing = this.ring.use(key)
    if (writing !== undefined) (this.#hold ?? context.waitUntil)(writing)
    return { ...identityOf(owner), scopes, ...(roles && { roles }), keyId: id }
  }

  /** Whether the key of an identity is still valid, whatever its scopes. */
  async isGood(identity: Identity): Promise<boolean> {
    return (await this.#goodKey(identity)) !== undefined
  }

  async #goodKey({ id, keyId }: Identity): Promise<KeptKey | undefined> {
    const key = keyId === undefined ? undefined : await this.ring.find(keyId)
    return key?.owner === id && isLive(key, Date.now()) ? key : undefined
  }

  /** Returns what a key may run. It is checked for each run, since a socket may be open for longer than its key is valid. */
  readonly permit: Permit = async ({ identity, transport }) => {
    if (identity?.keyId === undefined) return undefined
    const key = await this.#goodKey(identity)
    if (key === undefined) throw new ServableError('unauthorized', 'The key is revoked or has expired')
    checkScopes(key.scopes, 'run')
    // A request was counted on arrival.
    if (transport === 'socket') await this.#rates.take(key)
    return onlyOf(key.scopes)
  }
}

function checkScopes(scopes: readonly string[], need: AccessScope): void {
  if (mayDo(scopes, need)) return
  throw new ServableError('insufficient_scope', `The key needs the scope \`${need}\``)
}

/** Most rates that are counted at the same time. Most keys share a few. */
const MAX_RATES = 1000

/** Counts the requests of keys with a rate. */
export class KeyRates {
  readonly #counts = new BoundedMap<CountRequest>(MAX_RATES)
  readonly #countBy: (rate: Rate) => CountRequest

  constructor(countBy: (rate: Rate) => CountRequest) {
    this.#countBy = countBy
  }

  /** Counts a request, or a run of a socket. Sets the headers of the response. Throws `rate_limited`. */
  async take({ id, rate }: KeptKey, context?: Pick<Context, 'responseHeaders'>): Promise<void> {
    if (rate === undefined) return
    const { max, windowMs } = rate
    const name = `${max}/${windowMs}`
    const count = this.#counts.get(name) ?? this.#counts.set(name, this.#countBy(rate))
    // Windows of different lengths are counted separately.
    await countAgainst(rate, count, `${id}/${name}`, context?.responseHeaders)
  }
}
