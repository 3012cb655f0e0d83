/**
 * The module `node:sqlite`. It is apart from `driver.ts`, whose declarations users of `servable/sqlite` read without Node's types.
 *
 * @module
 */

import process from 'node:process'
import type * as Sqlite from 'node:sqlite'
import { ServableError } from '../../base/errors.ts'

/**
 * `node:sqlite`, looked up on first use. An import would fail on a runtime without it, before any clear error. Throws
 * `invalid_options`.
 */
export function sqliteModule(): typeof Sqlite {
  const found = process.getBuiltinModule?.('node:sqlite') as typeof Sqlite | undefined
  if (typeof found?.DatabaseSync === 'function') return found
  throw new ServableError(
    'invalid_options',
    `\`sqliteState\` needs \`node:sqlite\`, which ${runtimeName()} does not have: ${adviceFor(process.versions)}`,
  )
}

/** The runtime's name, from its versions. Bun and Deno also report a Node version. */
export function runtimeName({ bun, deno, node }: Versions = process.versions): string {
  if (bun !== undefined) return `Bun ${bun}`
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}

interface Versions {
  readonly bun?: string | undefined
  readonly deno?: string | undefined
  readonly node?: string | undefined
}

/** The advice for a runtime without `node:sqlite`. */
export function adviceFor({ bun, deno }: Versions): string {
  if (bun !== undefined) return 'use a newer Bun (1.4.4 has it)'
  if (deno !== undefined) return 'use Deno 2.2 or newer'
  return 'use Node 22.13 or newer, without `--no-experimental-sqlite`'
}
