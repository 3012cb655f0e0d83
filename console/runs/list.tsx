import { useEffect } from 'preact/hooks'
import { firstRun } from '../catalog.ts'
import { type Pages, usePages } from '../pages.ts'
import { More } from '../parts/more.tsx'
import { client } from '../service.ts'
import { number } from '../text.ts'
import { Bulk } from './bulk.tsx'
import { Chips, Choices, Search } from './choices.tsx'
import { askedOf, type Filters, fits } from './filters.ts'
import { useNews, useOlder } from './news.ts'
import { type Listed, merged, outliers, sorted } from './numbers.ts'
import { RunTable } from './table.tsx'

const ABSENT =
  'This service shows runs to nobody. To show them, add an `authenticate` middleware, or set `runs.listAnonymous`.'

/** Runs of a page, and the most that are loaded to sort them, or to find those far above the middle. */
const PAGE = 100
const MOST = 1000
/** Most runs that are shown. A list that grows beyond it begins again. */
const MOST_SHOWN = 10_000

/** The runs that match the filters. */
export function RunList({ filters, chosen }: { filters: Filters; chosen: string | undefined }) {
  const { sort, quick } = filters
  const pages = usePages<Listed>(
    JSON.stringify({ ...filters, sort: '', quick: '' }),
    async (cursor, signal) => {
      const query = { ...askedOf(filters), limit: PAGE, ...(cursor ? { cursor } : { count: true as const }) }
      const { runs, nextCursor, count } = await client.runs.list(query, { signal })
      return { items: runs, nextCursor, ...(count !== undefined && { count }) }
    },
  )
  const { items, update, reload } = pages
  const show = (fresh: readonly Listed[]) =>
    items.length < MOST_SHOWN ? update(before => merged(before, fresh)) : reload()
  useNews(filters, {
    isShown: id => items.some(run => run.id === id),
    show: run => (fits(run, filters) === false ? drop(run.id) : show([run])),
    drop,
    again: () => pages.refresh(merged),
  })
  useOlder(items, show)
  useMany(pages, sort !== undefined || quick !== undefined)
  function drop(id: string) {
    update(before => before.filter(run => run.id !== id))
  }
  const found = quick ? outliers(items, quick) : items
  const shown = sorted(found, sort)
  return (
    <>
      <div class="bar">
        <div class="top">
          <h1 tabIndex={-1}>Runs</h1>
          <span class="soft small" role="status">
            {countOf(pages, shown.length, filters)}
          </span>
          <Choices filters={filters} />
          <Bulk filters={filters} count={pages.count ?? items.length} />
        </div>
        <Search filters={filters} />
        <Chips filters={filters} pages={pages} />
      </div>
      {shown.length > 0 && <RunTable runs={shown} filters={filters} chosen={chosen} />}
      <More
        pages={quick && shown.length === 0 && items.length > 0 ? { ...pages, items: [] } : pages}
        none={
          isFiltered(filters)
            ? 'No run matches. Change the filters, or clear them.'
            : 'There are no runs yet.'
        }
        absent={ABSENT}
        command={isFiltered(filters) ? undefined : firstRun()}
      />
    </>
  )
}

function isFiltered({ sort: _, owner: __, ...filters }: Filters): boolean {
  return Object.keys(filters).length > 0
}

const ORDERS = { took: 'longest first', cost: 'costliest first', tokens: 'most tokens first' } as const

/** How many runs there are, and in which order they are shown. */
function countOf(
  { items, nextCursor, count }: Pages<Listed>,
  shown: number,
  { sort, quick }: Filters,
): string {
  const all = quick ? shown : (count ?? items.length)
  const isMore = nextCursor !== null && (count === undefined || count <= items.length || quick || sort)
  const among = isMore && (quick || sort) ? ` of the newest ${number(items.length)}` : ''
  return `${number(all)}${isMore && !among ? '+' : ''}${among}, ${sort ? ORDERS[sort] : 'newest first'}`
}

/** Loads many pages, where the order or the choice needs them. */
function useMany({ items, nextCursor, isLoading, more, error }: Pages<Listed>, isWanted: boolean): void {
  useEffect(() => {
    const isMore = nextCursor !== null && items.length < MOST && error === undefined
    if (isWanted && isMore && !isLoading) more()
  }, [isWanted, items.length, isLoading])
}
