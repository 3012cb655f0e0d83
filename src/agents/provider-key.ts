/**
 * Which of a request's provider keys goes to which model (docs/run/authentication.md, "Send your own provider key"). That a header
 * comes before the body is decided in `http/key-headers.ts`.
 *
 * @module
 */

import type { RunOptions, Servable } from './contract.ts'

/** Under this name `RunOptions.apiKeys` holds the key for whatever provider is used. */
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

/** The options for a servable inside another's run: all the same, but for the key of its own provider. */
export function optionsFor(servable: Pick<Servable, 'model'>, options: RunOptions): RunOptions {
  if (options.apiKeys === undefined) return options
  return { ...options, apiKey: selectKey(servable.model?.provider, options.apiKeys) }
}
