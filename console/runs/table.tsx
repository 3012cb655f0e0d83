import { useEffect, useRef, useState } from 'preact/hooks'
import { Ago } from '../parts/ago.tsx'
import { lookOf, shownStatus } from '../parts/look.ts'
import { Rated } from '../parts/rating.tsx'
import { Shape } from '../parts/status.tsx'
import { linkTo } from '../route.ts'
import { duration, money, number, visible } from '../text.ts'
import { rowHeight, useWindow } from '../window.ts'
import { type Filters, queryOf } from './filters.ts'
import { costOf, headlineOf, type Listed, type Sort, tookMs } from './numbers.ts'
import { to } from './to.ts'

/** Runs as a table. Only the lines that are seen are in the page, and the arrow keys go from one to the next. */
export function RunTable({
  runs,
  filters,
  chosen,
}: {
  runs: readonly Listed[]
  filters: Filters
  chosen: string | undefined
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  const height = rowHeight('--row')
  const { from, to: end } = useWindow(body, runs.length, height)
  const [at, setAt] = useState<number>()
  const first =
    at ??
    Math.max(
      0,
      runs.findIndex(({ id }) => id === chosen),
    )
  const hasUsers = runs.some(({ userId, owner }) => userId !== undefined || owner !== undefined)
  useEffect(() => {
    if (at !== undefined) body.current?.querySelector<HTMLElement>(`a[data-at="${at}"]`)?.focus()
  }, [at])
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const now = Number((event.target as HTMLElement).dataset.at ?? first)
    setAt(Math.min(runs.length - 1, Math.max(0, now + step)))
  }
  return (
    <table class="list runs" aria-rowcount={runs.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" class="shape">
            <span class="unseen">Status</span>
          </th>
          <th scope="col">Input</th>
          <th scope="col" class="name">
            Agent
          </th>
          {hasUsers && (
            <th scope="col" class="user">
              User
            </th>
          )}
          <SortHead by="took" filters={filters} title="Took" />
          <SortHead by="tokens" filters={filters} title="Tokens" />
          <SortHead by="cost" filters={filters} title="Cost" />
          <SortHead filters={filters} title="Ago" />
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={press}>
        <Gap rows={from} height={height} />
        {runs.slice(from, end).map((run, index) => (
          <Line
            key={run.id}
            run={run}
            at={from + index}
            isChosen={run.id === chosen}
            isStop={
              from + index === Math.min(first, runs.length - 1) ||
              (index === 0 && (first < from || first >= end))
            }
            hasUsers={hasUsers}
            filters={filters}
          />
        ))}
        <Gap rows={runs.length - end} height={height} />
      </tbody>
    </table>
  )
}

/** The place of the lines that are not in the page. */
function Gap({ rows, height }: { rows: number; height: number }) {
  if (rows <= 0) return null
  return (
    <tr class="gap">
      <td style={{ height: `${rows * height}px` }} />
    </tr>
  )
}

/** The head of a column by which the list can be sorted. */
function SortHead({ by, filters, title }: { by?: Sort; filters: Filters; title: string }) {
  const isOn = filters.sort === by
  const { sort: _, ...rest } = filters
  return (
    <th scope="col" class={`number ${by ?? 'ago'}`} aria-sort={isOn ? 'descending' : undefined}>
      <button type="button" class="sorted" onClick={() => to(by ? { ...rest, sort: by } : rest)}>
        {title}
        {isOn && <span aria-hidden="true">↓</span>}
      </button>
    </th>
  )
}

function Line({
  run,
  at,
  isChosen,
  isStop,
  hasUsers,
  filters,
}: {
  run: Listed
  at: number
  isChosen: boolean
  /** Whether the Tab key stops here. */
  isStop: boolean
  hasUsers: boolean
  filters: Filters
}) {
  const { id, name, owner, userId, createdAt } = run
  const query = queryOf(filters)
  const status = shownStatus(run)
  const { word, shape } = lookOf(status)
  const took = tookMs(run)
  const isDone = status === 'completed'
  const tokens = run.usage?.totalTokens
  const cost = costOf(run)
  return (
    <tr class={status} aria-rowindex={at + 2}>
      <td class="shape">
        <Shape status={status} />
      </td>
      <td>
        {run.feedback && <Rated rating={run.feedback} />}
        <a
          href={linkTo('runs', [id], owner ? { ...query, of: owner } : query)}
          data-at={at}
          tabIndex={isStop ? 0 : -1}
          aria-current={isChosen || undefined}
        >
          {visible(headlineOf(run))}
        </a>
      </td>
      <td class="name soft">{visible(name)}</td>
      {hasUsers && <td class="user soft">{visible(userId ?? owner ?? '')}</td>}
      <td
        class={`number took ${isDone ? '' : shape}`}
        title={took === undefined ? undefined : duration(took)}
      >
        {isDone && took !== undefined ? (
          <>
            <span class="unseen">{word} </span>
            {duration(took)}
          </>
        ) : (
          word
        )}
      </td>
      <td class="number tokens">{tokens !== undefined && number(tokens)}</td>
      <td class="number cost">{cost !== undefined && money(cost)}</td>
      <td class="number ago soft">
        <Ago at={createdAt} isBare />
      </td>
    </tr>
  )
}
