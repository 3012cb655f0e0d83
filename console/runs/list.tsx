import { useEffect, useState } from 'preact/hooks'
import type { RunSummary } from '../../src/client/index.ts'
import { usePages } from '../pages.ts'
import { More } from '../parts/more.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../route.ts'
import { client, config, isRefusal } from '../service.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { askedOf, FILTERS, type Filters, KINDS, queryOf, STATUSES } from './filters.ts'
import { columnsOf, merged } from './numbers.ts'

const ABSENT =
  'The service lists runs to nobody. Use an `authenticate` middleware, or set `runs.listAnonymous`.'

/** The service streams the changes of this many of the newest runs. Older running runs are polled every 2 s. */
const WATCHED = 50
const LOOK_MS = 2000

/** A run of the list. It has its owner if it may be of others. */
type Listed = RunSummary & { readonly owner?: string | null }

/** The runs that match the filters, newest first. */
export function RunList({ filters, chosen }: { filters: Filters; chosen: string | undefined }) {
  const pages = usePages<Listed>(JSON.stringify(filters), async (cursor, signal) => {
    const { runs, nextCursor } = await client.runs.list(
      { ...askedOf(filters), ...(cursor && { cursor }) },
      { signal },
    )
    return { items: runs, nextCursor }
  })
  const { items, update, reload } = pages
  const running = items.filter(({ status }) => status === 'running').map(({ id }) => id)
  const older = items.slice(WATCHED).filter(({ status }) => status === 'queued' || status === 'running')
  const show = (fresh: readonly Listed[]) => update(before => merged(before, fresh))
  const isLive = useNews(filters, show, gone => update(before => before.filter(({ id }) => id !== gone)))
  const isOfOthers = filters.owner !== undefined
  useOlder(isOfOthers ? '' : older.map(({ id }) => id).join(), show)
  const columns = columnsOf(items)
  const query = queryOf(filters)
  return (
    <>
      <FilterForm filters={filters} />
      <p class="actions">
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <span class="soft">{isLive && `● live, ${running.length} running`}</span>
      </p>
      {items.length > 0 && (
        <table class="list runs" style={{ '--numbers': ' 6rem'.repeat(columns.length) }}>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Name</th>
              <th scope="col">Started</th>
              {columns.map(({ title }) => (
                <th key={title} scope="col" class="number more">
                  {title}
                </th>
              ))}
              <th scope="col" class="more">
                Session
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map(run => (
              <tr key={run.id} class={run.id === chosen ? 'chosen' : undefined}>
                <td>
                  <Status run={run} />
                </td>
                <td>
                  <a
                    href={linkTo('runs', [run.id], run.owner ? { ...query, of: run.owner } : query)}
                    aria-current={run.id === chosen || undefined}
                  >
                    {run.name}
                    {isOfOthers && <span class="soft"> {run.owner ?? 'nobody'}</span>}
                  </a>
                </td>
                <td>
                  <Time at={run.createdAt} />
                </td>
                {columns.map(({ title, of }) => (
                  <td key={title} class="number more">
                    {of(run)}
                  </td>
                ))}
                <td class="more">{run.sessionId}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <More pages={pages} none="No run fits." absent={ABSENT} />
    </>
  )
}

/** Streams the changes of the newest runs. False while the stream is down. */
function useNews(
  filters: Filters,
  show: (fresh: readonly Listed[]) => void,
  drop: (id: string) => void,
): boolean {
  const [isLive, setLive] = useState(false)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const watch = async () => {
      const query = { ...askedOf(filters), limit: WATCHED }
      for await (const event of client.runs.watch(query, { signal })) {
        setLive(true)
        if (event.type === 'all') show(event.runs)
        else if (event.type === 'removed') drop(event.id)
        else show([event.run])
      }
    }
    const stay = async () => {
      while (!signal.aborted) {
        const failure = await watch().catch(error => error)
        if (signal.aborted) return
        setLive(false)
        // The list's own loading shows why there is no list.
        if (isRefusal(failure)) return
        await pause(AGAIN_MS, signal)
      }
    }
    void stay()
    return () => controller.abort()
  }, [JSON.stringify(filters)])
  return isLive
}

/** Polls runs that the stream no longer includes, while the page is visible. */
function useOlder(ids: string, show: (fresh: readonly Listed[]) => void): void {
  useEffect(() => {
    if (ids === '') return
    const controller = new AbortController()
    const { signal } = controller
    const look = async () => {
      if (!document.hidden) show(await Promise.all(ids.split(',').map(id => client.runs.get(id, { signal }))))
    }
    // A failed poll is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [ids])
}

function FilterForm({ filters }: { filters: Filters }) {
  const change = ({ currentTarget: form }: { readonly currentTarget: HTMLFormElement }) => {
    const all = FILTERS.map(name => [name, String(new FormData(form).get(name) ?? '').trim()])
    goTo('runs', [], Object.fromEntries(all.filter(([, value]) => value !== '')))
  }
  const options = (all: readonly string[], any: string) => [
    <option key="" value="">
      {any}
    </option>,
    ...all.map(each => (
      <option key={each} value={each}>
        {each.replace('_', ' ')}
      </option>
    )),
  ]
  return (
    <form
      class="filters"
      aria-label="Filters"
      onChange={change}
      onSubmit={event => {
        event.preventDefault()
        change(event)
      }}
    >
      {config.value.rights.includes('list') && (
        <label>
          Whose
          <select name="owner" value={filters.owner ?? ''}>
            <option value="">mine</option>
            <option value="*">everyone’s</option>
          </select>
        </label>
      )}
      <label>
        Kind
        <select name="kind" value={filters.kind ?? ''}>
          {options(KINDS, 'all kinds')}
        </select>
      </label>
      <label>
        Status
        <select name="status" value={filters.status ?? ''}>
          {options(STATUSES, 'any status')}
        </select>
      </label>
      <label>
        Name
        <input name="name" value={filters.name ?? ''} />
      </label>
      <label>
        Session
        <input name="sessionId" value={filters.sessionId ?? ''} />
      </label>
      <label>
        From
        <input type="datetime-local" name="since" value={filters.since ?? ''} />
      </label>
      <label>
        To
        <input type="datetime-local" name="until" value={filters.until ?? ''} />
      </label>
    </form>
  )
}
