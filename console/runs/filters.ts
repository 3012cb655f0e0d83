/** The filters of the run list in the address. */
import type { RunListQuery } from '../../src/client/index.ts'

export const KINDS = ['agent', 'team', 'workflow'] as const
/**
 * A status. `input_required` here means that answers are still missing, although a run keeps that status after they have arrived.
 */
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
export const FILTERS = ['kind', 'status', 'name', 'sessionId', 'since', 'until', 'owner'] as const

/** The filters that a person chooses. Times are typed in the reader's time zone. */
export type Filters = Omit<RunListQuery, 'limit' | 'status' | 'waiting' | 'since' | 'until'> & {
  readonly status?: (typeof STATUSES)[number]
  readonly since?: string
  readonly until?: string
}

/** The filters in an address. Values that the service would refuse are left out. */
export function filtersOf(query: URLSearchParams): Filters {
  const timeOf = (name: string) => (Number.isNaN(Date.parse(query.get(name) ?? '')) ? null : query.get(name))
  const all = {
    kind: KINDS.find(each => each === query.get('kind')),
    status: STATUSES.find(each => each === query.get('status')),
    name: query.get('name'),
    sessionId: query.get('sessionId'),
    since: timeOf('since'),
    until: timeOf('until'),
    owner: query.get('owner'),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value))
}

/** The filters as a query to the service. */
export function askedOf({ status, since, until, ...more }: Filters): RunListQuery {
  return {
    ...more,
    ...(status && (status === 'waiting' ? { waiting: true } : { status })),
    ...(since && { since: new Date(since) }),
    ...(until && { until: new Date(until) }),
  }
}

/** The filters as a query of the address. */
export function queryOf(filters: Filters): Readonly<Record<string, string>> {
  const all = FILTERS.map(filter => [filter, filters[filter]])
  return Object.fromEntries(all.filter(([, value]) => value))
}
