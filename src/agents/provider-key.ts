/**
 * Chooses which provider key of a request goes to which model (docs/run/authentication.md, "Send your own provider key").
 * `http/security/key-headers.ts` lets a header override the body.
 *
 * @module
 */

import type { RunOptions, Servable } from './contract.ts'

/** The name under which `RunOptions.apiKeys` holds the key for any provider. */
export const ANY_PROVIDER = '*'

/**
 * The key for a model's provider: first the one given for that provider (by the part of its name before the first
 * dot), else the one for any provider, else none.
 */
export function selectKey(provider: string | undefined, keys: RunOptions['apiKeys']): string | undefined {
  if (keys === undefined) return undefined
  const name = provider?.split('.', 1)[0]
  if (name !== undefined && name !== ANY_PROVIDER && Object.hasOwn(keys, name)) return keys[name]
  return Object.hasOwn(keys, ANY_PROVIDER) ? keys[ANY_PROVIDER] : undefined
}

/** The options for a servable inside another's run: the same, except for the key of its own provider. */
export function optionsFor(servable: Pick<Servable, 'model'>, options: RunOptions): RunOptions {
  if (options.apiKeys === undefined) return options
  return { ...options, apiKey: selectKey(servable.model?.provider, options.apiKeys) }
}
