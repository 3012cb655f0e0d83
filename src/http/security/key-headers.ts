/**
 * Reads the model providers' keys of a request. `agents/provider-key.ts` chooses which of them a run uses.
 *
 * @module
 */

import { ANY_PROVIDER } from '../../agents/provider-key.ts'

/** Which header has a provider's key, and which models the key is for. */
export interface ProviderConfig {
  /** Name of the request header, such as `x-openai-api-key`. */
  readonly header: string
  /** The providers it is for: the part of `model.provider` before its first dot. */
  readonly matches: readonly string[]
}

/** Providers by id. */
export type Providers = Readonly<Record<string, ProviderConfig>>

/** The header whose key goes to any provider. */
export const ANY_PROVIDER_HEADER = 'x-api-key'

/** The headers that every service knows. A deployment adds its own rows. */
export const DEFAULT_PROVIDERS: Providers = {
  'provider-a': { header: 'x-provider-a-api-key', matches: ['provider-a'] },
  'provider-b': { header: 'x-provider-b-api-key', matches: ['provider-b'] },
  'provider-c': { header: 'x-provider-c-api-key', matches: ['provider-c'] },
}

/** Reads the keys of a request: those of its headers, then the one of its body. Undefined if there are none. */
export type KeyReader = (headers: Headers, bodyKey: string | undefined) => Record<string, string> | undefined

/** Builds the reader for a table of providers. */
export function createKeyReader(providers: Providers): KeyReader {
  const rows = Object.entries(providers).map(([id, { header, matches }]) => ({
    header,
    names: [id, ...matches],
  }))
  return (headers, bodyKey) => {
    let keys: Record<string, string> | undefined
    for (const { header, names } of rows) {
      const key = headers.get(header)
      if (key === null || key === '') continue
      keys ??= {}
      for (const name of names) keys[name] = key
    }
    const any = headers.get(ANY_PROVIDER_HEADER) || bodyKey
    if (any !== undefined) keys = { ...keys, [ANY_PROVIDER]: any }
    return keys
  }
}

/** The names of all key headers: to allow in CORS, to redact in logs, to document. */
export function keyHeaders(providers: Providers): string[] {
  return [...Object.values(providers).map(provider => provider.header.toLowerCase()), ANY_PROVIDER_HEADER]
}
