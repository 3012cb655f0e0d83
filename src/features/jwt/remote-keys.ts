/**
 * The keys of an issuer. They are fetched with a token that needs them, and kept for a while.
 *
 * @module
 */

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { nameResolver } from '../../base/environment.ts'
import { isObject } from '../../base/validation.ts'
import { readJson } from '../../web/body.ts'
import { senderTo } from '../../web/outbound.ts'
import { discard } from '../../web/reply.ts'

/** Gives the key for the header of a token. Rejects if there is none. `onFailure` gets the error of a fetch that failed. */
export type FindKey = (
  header: JWSHeaderParameters,
  onFailure?: (cause: unknown) => void,
) => Promise<CryptoKey | Uint8Array>

/** Where keys are fetched: in the JWK set at a URL, or that of an issuer. `allow` is the option. */
export interface KeyAddress {
  readonly issuer?: string | undefined
  readonly jwks?: string | undefined
  readonly allow: readonly string[]
}

/** No key is known, because none could be fetched: `cause` is the last error. */
export class NoKeysError extends Error {
  override readonly name = 'NoKeysError'
}

/** Milliseconds until keys are fetched anew. */
export const FRESH_MS = 600_000

/** Milliseconds for which keys that cannot be fetched anew are used. */
const KEPT_MS = 86_400_000

/** Milliseconds between two fetches for keys that are not in the set, and after a fetch that failed. */
const PAUSE_MS = 60_000

/** The same after a fetch that failed while there is no key. */
export const PAUSE_WITHOUT_KEYS_MS = 5000

/** Milliseconds that a fetch may take, with its lookups. */
export const FETCH_MS = 5000

/** Bytes that a configuration or a set may have. */
const MAX_BYTES = 262_144

/** Keys that a set may have. */
export const MAX_KEYS = 100

/** Finds keys in the set at an address. Nothing is fetched before the first token. */
export function remoteKeys(address: KeyAddress): FindKey {
  let known: FindKey | undefined
  let fetching: Promise<void> | undefined
  let fetchedAt = 0
  let dueAt = 0
  let unknownDueAt = 0
  let failure: unknown

  const load = async (onFailure: (cause: unknown) => void) => {
    try {
      known = setOf(await inTime(fetchSet(address)))
      fetchedAt = performance.now()
      dueAt = fetchedAt + FRESH_MS
    } catch (cause) {
      failure = cause
      onFailure(cause)
    }
  }
  const fetchKeys = (onFailure: (cause: unknown) => void) => {
    if (performance.now() - fetchedAt > KEPT_MS) known = undefined
    // It is due again soon, also if this fetch never ends because its request was ended by the runtime.
    dueAt = performance.now() + (known ? PAUSE_MS : PAUSE_WITHOUT_KEYS_MS)
    fetching = load(onFailure).finally(() => {
      fetching = undefined
    })
    return fetching
  }
  const find = (header: JWSHeaderParameters) => {
    if (known) return known(header)
    throw new NoKeysError('No key of the issuer is known', { cause: failure })
  }
  /** Waits for a fetch that another request has begun, which a runtime may have ended. */
  const join = () => inTime(Promise.resolve(fetching)).catch(() => {})

  return async (header, onFailure = () => {}) => {
    const begunAt = performance.now()
    if (begunAt >= dueAt) await fetchKeys(onFailure)
    else if (known === undefined) await join()
    try {
      return await find(header)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || fetchedAt >= begunAt) throw error
    }
    // The issuer may have a new key.
    if (fetching !== undefined || begunAt < unknownDueAt) await join()
    else {
      unknownDueAt = begunAt + PAUSE_MS
      await fetchKeys(onFailure)
    }
    return find(header)
  }
}

/** Finds keys in a set. Throws if the value is no set, or has too many keys. */
export function setOf(keys: unknown): FindKey {
  const { length } = Object(Object(keys).keys)
  if (length > MAX_KEYS) throw new Error(`The JWK set has more than ${MAX_KEYS} keys`)
  const find = createLocalJWKSet(keys as JSONWebKeySet)
  return header => find(header)
}

/** The address of the configuration of an issuer (OpenID Connect Discovery 1.0, section 4). */
export function configurationOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

async function fetchSet({ issuer, jwks, allow }: KeyAddress): Promise<unknown> {
  const signal = AbortSignal.timeout(FETCH_MS)
  const found = async (of: string) => addressIn(await configurationAt(of, allow, signal), 'jwks_uri', of)
  return fetchJson(jwks ?? (await found(String(issuer))), { headers: ACCEPTS }, allow, signal)
}

/** Fetches the configuration of an issuer. */
export async function configurationAt(
  issuer: string,
  allow: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const url = configurationOf(issuer)
  const configuration = await fetchJson(url, { headers: ACCEPTS }, allow, signal)
  if (!isObject(configuration) || configuration.issuer !== issuer)
    throw new Error(`${url} names another \`issuer\` than the option`)
  return configuration
}

/** Returns an address in the configuration of an issuer. Throws if there is none. */
export function addressIn(
  configuration: Readonly<Record<string, unknown>>,
  name: string,
  issuer: string,
): string {
  const address = configuration[name]
  if (typeof address === 'string' && URL.canParse(address)) return address
  throw new Error(`${configurationOf(issuer)} has no \`${name}\``)
}

const ACCEPTS = { accept: 'application/json' }

/** Sends a request, and returns the JSON of its answer. Rejects for an answer that is an error. */
export async function fetchJson(
  url: string,
  init: RequestInit,
  allow: readonly string[],
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const policy = { allow, resolve: nameResolver(), isHttpsOnly: true }
    const send = await senderTo(new URL(url), policy, 'provider_failed')
    const response = await send({ ...init, signal })
    // The declared length is dropped: `fetch` may decode a body to a longer one.
    if (response.ok) return await readJson(new Response(response.body), MAX_BYTES)
    discard(response)
    throw new Error(`It answered ${response.status}`)
  } catch (cause) {
    throw new Error(`${url} cannot be fetched`, { cause })
  }
}

/** Rejects if the work takes longer than a fetch may. */
export function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The answer did not come in ${FETCH_MS} ms`))
    const timer = setTimeout(late, FETCH_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
