/**
 * The scope that each route needs, in one table. A handler whose route is not in it does not start.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Findable } from '../router.ts'

/** The scope of a request. Each includes the ones before it: reading, running, and everything that an owner may do. */
export type AccessScope = 'read' | 'run' | 'all'

type ByMethod = { readonly [Method in Findable['method']]?: AccessScope }

/** The members of a route that the table needs. */
interface Scoped extends Findable {
  readonly part: string
  readonly scope?: AccessScope | undefined
}

const READS: ByMethod = { GET: 'read' }
const RUNS: ByMethod = { GET: 'read', POST: 'run' }
/** Also the scopes of other plugins' routes that set none. */
export const CHANGES: Required<ByMethod> = { GET: 'read', POST: 'run', PATCH: 'all', DELETE: 'all' }
/** The caller is an administrator, by the part's own `authenticate`, or on this machine without one. */
const ADMINISTERS: ByMethod = { GET: 'all', POST: 'all', PATCH: 'all', DELETE: 'all' }

/** The scopes of a part's routes, by their method. */
export const SCOPES: Readonly<Record<string, ByMethod>> = {
  router: CHANGES,
  runs: { ...RUNS, DELETE: 'all' },
  sessions: CHANGES,
  approvals: READS,
  webhooks: CHANGES,
  openai: CHANGES,
  'chat-completions': RUNS,
  anthropic: RUNS,
  'langgraph-api': CHANGES,
  'ag-ui': RUNS,
  'ai-sdk-ui': RUNS,
  // Protocols whose callers cancel and unsubscribe with methods other than `POST`.
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
  pausing: ADMINISTERS,
}

/** The scope that a route needs; undefined if it is not set. */
export function scopeOf({ part, method, scope }: Omit<Scoped, 'path'>): AccessScope | undefined {
  return scope ?? (Object.hasOwn(SCOPES, part) ? SCOPES[part]?.[method] : undefined)
}

/** Throws `internal_error` for a route without a scope. */
export function checkScopes(routes: readonly Scoped[]): void {
  const open = routes.find(route => scopeOf(route) === undefined)
  if (open === undefined) return
  const text = `\`${open.method} ${open.path}\` needs no scope that \`http/security/scopes.ts\` states`
  throw new ServableError('internal_error', text)
}
