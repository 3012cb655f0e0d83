/** What the list of runs shows, as the address says it. */
import type { RunListQuery } from '../../src/client/index.ts'
import { type Listed, QUICK, type Quick, SORTS, type Sort } from './numbers.ts'

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

/** Spans of time, in milliseconds. */
export const SPANS: Readonly<Record<string, number>> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
}

/** What was said of a run: any words, or these ratings. */
export const FEEDBACK = ['any', 'positive', 'negative', 'neutral'] as const

/** Names of the filters in the address. */
export const FILTERS = [
  'kind',
  'status',
  'name',
  'sessionId',
  'since',
  'until',
  'owner',
  'feedback',
  'search',
  'last',
  'sort',
  'quick',
] as const

/** The filters that a person chooses. Times are typed in the reader's time zone. */
export type Filters = Omit<
  RunListQuery,
  'limit' | 'status' | 'waiting' | 'since' | 'until' | 'count' | 'search'
> & {
  readonly status?: (typeof STATUSES)[number]
  readonly since?: string
  readonly until?: string
  /** A span of {@link SPANS} up to now. */
  readonly last?: string
  /** Text in the input, the output or the error. */
  readonly search?: string
  readonly sort?: Sort
  readonly quick?: Quick
}

/** The filters in an address. Values that the service would refuse are left out. */
export function filtersOf(query: URLSearchParams): Filters {
  const timeOf = (name: string) => (Number.isNaN(Date.parse(query.get(name) ?? '')) ? null : query.get(name))
  const oneOf = <T extends string>(all: readonly T[], name: string) =>
    all.find(each => each === query.get(name))
  const all = {
    kind: oneOf(KINDS, 'kind'),
    status: oneOf(STATUSES, 'status'),
    name: query.get('name'),
    sessionId: query.get('sessionId'),
    since: timeOf('since'),
    until: timeOf('until'),
    owner: query.get('owner'),
    feedback: oneOf(FEEDBACK, 'feedback'),
    search: query.get('search')?.trim().slice(0, 200),
    last: oneOf(Object.keys(SPANS), 'last'),
    sort: oneOf(SORTS, 'sort'),
    quick: oneOf(QUICK, 'quick'),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value))
}

/** The filters as a query to the service. */
export function askedOf({ status, since, until, last, sort, quick, ...more }: Filters): RunListQuery {
  const from = last ? new Date(Date.now() - SPANS[last]!) : since && new Date(since)
  return {
    ...more,
    ...(status && (status === 'waiting' ? { waiting: true } : { status })),
    ...(from && { since: from }),
    ...(until && { until: new Date(until) }),
  }
}

/** The filters as a query of the address. */
export function queryOf(filters: Filters): Readonly<Record<string, string>> {
  const all = FILTERS.map(filter => [filter, filters[filter]])
  return Object.fromEntries(all.filter(([, value]) => value))
}

/** Whether a run fits the filters. Undefined if only the service knows. */
export function fits(run: Listed, filters: Filters): boolean | undefined {
  const { kind, name, sessionId, status, feedback, since, until, last, search } = filters
  const at = Date.parse(run.createdAt)
  const isWithin =
    !(last && at < Date.now() - SPANS[last]!) &&
    !(since && at < Date.parse(since)) &&
    !(until && at >= Date.parse(until))
  const isNamed =
    (!kind || run.kind === kind) &&
    (!name || run.name === name) &&
    (!sessionId || run.sessionId === sessionId)
  const isThere = !status || (status === 'waiting' ? run.waiting === true : run.status === status)
  const isSaid = !feedback || (feedback === 'any' ? run.feedback !== undefined : run.feedback === feedback)
  if (!isWithin || !isNamed || !isThere || !isSaid) return false
  return search ? undefined : true
}
