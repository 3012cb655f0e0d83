/** Which runs are listed, as the address says. */
import type { RunListQuery } from '../../src/client/index.ts'

export const KINDS = ['agent', 'team', 'workflow'] as const
/** A status, or what waits for answers still: that status stays when they have come. */
export const STATUSES = [
  'queued',
  'running',
  'completed',
  'input_required',
  'waiting',
  'failed',
  'cancelled',
] as const

/** Names of the filters in the address. */
export const FILTERS = ['kind', 'status', 'name', 'sessionId', 'since', 'until'] as const

/** What a person filters by. Times are as they are typed, by the clock of the reader. */
export type Filters = Omit<RunListQuery, 'limit' | 'status' | 'waiting' | 'since' | 'until'> & {
  readonly status?: (typeof STATUSES)[number]
  readonly since?: string
  readonly until?: string
}

/** The filters of an address. What the service would refuse is left out. */
export function filtersOf(query: URLSearchParams): Filters {
  const timeOf = (name: string) => (Number.isNaN(Date.parse(query.get(name) ?? '')) ? null : query.get(name))
  const all = {
    kind: KINDS.find(each => each === query.get('kind')),
    status: STATUSES.find(each => each === query.get('status')),
    name: query.get('name'),
    sessionId: query.get('sessionId'),
    since: timeOf('since'),
    until: timeOf('until'),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value))
}

/** The same as the service is asked for them. */
export function askedOf({ status, since, until, ...more }: Filters): RunListQuery {
  return {
    ...more,
    ...(status && (status === 'waiting' ? { waiting: true } : { status })),
    ...(since && { since: new Date(since) }),
    ...(until && { until: new Date(until) }),
  }
}

/** The same as an address has them. */
export function queryOf(filters: Filters): Readonly<Record<string, string>> {
  const all = FILTERS.map(filter => [filter, filters[filter]])
  return Object.fromEntries(all.filter(([, value]) => value))
}
