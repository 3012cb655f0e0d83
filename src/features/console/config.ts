/**
 * `GET {prefix}/console/config`: the configuration that the page needs.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import type { RequestState } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import { VERSION } from '../../http/version.ts'

/** The configuration that the page needs. */
export interface ConsoleConfig {
  /** The version of servable. */
  readonly version: string
  /** Whether the text of server errors is masked. */
  readonly production: boolean
  /** The user. Null if unknown. */
  readonly identity: { readonly id: string; readonly scopes: readonly string[] } | null
  /** The prefix of the service's own routes. A proxy may change it. */
  readonly prefix: string
  /** The names of all plugins. */
  readonly plugins: readonly string[]
  /** Paths that plugins serve, by name: `a2a`, `card`, `socket`, `mcp`, `metrics`, `docs`. */
  readonly links: Readonly<Record<string, string>>
  /** Why runs are not stored. Null if they are. */
  readonly notStored: string | null
  /** Whether the inputs of stored runs are kept. */
  readonly keepsInput: boolean
  /** Whether the user may list runs. */
  readonly listsRuns: boolean
  /** Whether runs accept forms with files. */
  readonly takesFiles: boolean
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
}

/** Answers with the configuration. */
export function configOf(core: Core, state: RequestState, identity: Identity | undefined): Response {
  const { production, prefix, mounted, settings, uploads, maxBodyBytes } = core
  const config: ConsoleConfig = {
    version: VERSION,
    production,
    identity: identity ? { id: identity.id, scopes: identity.scopes ?? [] } : null,
    prefix,
    plugins: mounted.map(({ name }) => name),
    links: Object.assign({}, ...mounted.map(({ links }) => links)),
    notStored: core.whyUnstored(state) ?? null,
    keepsInput: settings.runs.keepInput === true,
    listsRuns: identity !== undefined || settings.runs.listAnonymous,
    takesFiles: uploads !== undefined,
    maxBodyBytes,
  }
  return Response.json(config, { headers: { 'cache-control': 'no-store' } })
}
