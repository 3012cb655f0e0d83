/**
 * The scope that each route needs, in one table. A handler whose route is not in it does not start.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Findable } from '../router.ts'

/** What a request needs. Each includes the ones before it: reading, running, and everything that an owner may do. */
export type Scope = 'read' | 'run' | 'all'

type ByMethod = { readonly [Method in Findable['method']]?: Scope }

/** A route, as far as this table is concerned. */
interface Scoped extends Findable {
  readonly part: string
  readonly scope?: Scope | undefined
}

const READS: ByMethod = { GET: 'read' }
const RUNS: ByMethod = { GET: 'read', POST: 'run' }
/** Also what the routes of other plugins need that say nothing. */
export const CHANGES: Required<ByMethod> = { GET: 'read', POST: 'run', PATCH: 'all', DELETE: 'all' }
/** Whoever asks is an administrator, by the part's own `authenticate`, or without one this machine alone. */
const ADMINISTERS: ByMethod = { GET: 'all', POST: 'all', PATCH: 'all', DELETE: 'all' }

/** What the routes of a part need, by their method. */
export const SCOPES: Readonly<Record<string, ByMethod>> = {
  router: CHANGES,
  runs: RUNS,
  sessions: CHANGES,
  approvals: READS,
  webhooks: CHANGES,
  openai: CHANGES,
  'chat-completions': RUNS,
  'ag-ui': RUNS,
  'ai-sdk-ui': RUNS,
  // Protocols whose callers cancel and unsubscribe with other methods than `POST`.
  a2a: { ...RUNS, DELETE: 'run' },
  mcp: { ...RUNS, DELETE: 'run' },
  // A socket is opened to run something.
  socket: { GET: 'run', POST: 'run' },
  card: READS,
  budgets: READS,
  metrics: READS,
  docs: READS,
  console: READS,
  health: READS,
  admin: ADMINISTERS,
  keys: ADMINISTERS,
  schedules: ADMINISTERS,
}

/** What a route needs. Undefined: nobody has said that. */
export function scopeOf({ part, method, scope }: Omit<Scoped, 'path'>): Scope | undefined {
  return scope ?? (Object.hasOwn(SCOPES, part) ? SCOPES[part]?.[method] : undefined)
}

/** Throws `internal_error` for a route of which the table says nothing. */
export function checkScopes(routes: readonly Scoped[]): void {
  const open = routes.find(route => scopeOf(route) === undefined)
  if (open === undefined) return
  const text = `\`${open.method} ${open.path}\` needs no scope that \`http/scopes.ts\` states`
  throw new ServableError('internal_error', text)
}
