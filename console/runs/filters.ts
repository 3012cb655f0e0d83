/** Which runs are listed, as the address says. */
import type { RunListQuery } from '../../src/client/index.ts'

export const KINDS = ['agent', 'team', 'workflow'] as const
export const STATUSES = ['running', 'completed', 'input_required', 'failed', 'cancelled'] as const

/** Names of the filters in the address. */
export const FILTERS = ['kind', 'status', 'name', 'sessionId'] as const

/** The filters of an address. What the service would refuse is left out. */
export function filtersOf(query: URLSearchParams): RunListQuery {
  const kind = KINDS.find(each => each === query.get('kind'))
  const status = STATUSES.find(each => each === query.get('status'))
  const name = query.get('name')
  const sessionId = query.get('sessionId')
  return {
    ...(kind && { kind }),
    ...(status && { status }),
    ...(name && { name }),
    ...(sessionId && { sessionId }),
  }
}

/** The same as an address has them. */
export function queryOf(filters: RunListQuery): Readonly<Record<string, string>> {
  const all = FILTERS.map(filter => [filter, filters[filter]])
  return Object.fromEntries(all.filter(([, value]) => value))
}
