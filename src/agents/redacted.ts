/**
 * Values without the provider keys of the run that they come from.
 *
 * @module
 */

import { redact } from '../base/errors.ts'
import type { RunKeys } from './run-types.ts'

/** Every key of a run. */
export function secretsOf({ apiKey = '', apiKeys = {} }: RunKeys): string[] {
  return [apiKey, ...Object.values(apiKeys)].filter(secret => secret !== '')
}

/** Whether a run has any key. */
export function hasKeys(keys: RunKeys): boolean {
  return secretsOf(keys).length > 0
}

/** A value as JSON has it, the keys of a run cut out of every text in it. Throws for what is no JSON. */
export function withoutKeys<T>(value: T, keys: RunKeys): T {
  const json = JSON.stringify(value)
  const secrets = secretsOf(keys)
  if (json === undefined || secrets.length === 0) return value
  // Of the same shape: texts alone have changed.
  return cleaned(JSON.parse(json), secrets) as T
}

function cleaned(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets)
  if (Array.isArray(value)) return value.map(each => cleaned(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [redact(name, secrets), cleaned(each, secrets)])
  return Object.fromEntries(entries)
}
