/**
 * Removes the provider keys of a run from values.
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

/** Returns a value as JSON has it, with the run's keys removed from every text in it. Throws for a value that is not JSON. */
export function withoutKeys<T>(value: T, keys: RunKeys): T {
  const json = JSON.stringify(value)
  const secrets = secretsOf(keys)
  if (json === undefined || secrets.length === 0) return value
  // The shape is the same: only texts have changed.
  return cleaned(JSON.parse(json), secrets) as T
}

function cleaned(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets)
  if (Array.isArray(value)) return value.map(each => cleaned(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [redact(name, secrets), cleaned(each, secrets)])
  return Object.fromEntries(entries)
}
