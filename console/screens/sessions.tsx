import type { SessionSummary } from '../../src/client/index.ts'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Heads } from '../parts/heads.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Panes } from '../parts/panes.tsx'
import { save } from '../parts/save.ts'
import { SearchField } from '../parts/search.tsx'
import { Status } from '../parts/status.tsx'
import { goTo, linkTo, route } from '../route.ts'
import { KINDS } from '../runs/filters.ts'
import { clientOf, config, send } from '../service.ts'
import { Said } from '../sessions/said.tsx'
import { Session } from '../sessions/session.tsx'
import { visible } from '../text.ts'

const ABSENT = 'Sessions are shown to users who are logged in. Log in, or add an `authenticate` middleware.'

/** The sessions of the user, or of the one whom the address names, and the details of one. */
export function Sessions() {
  const { path, query } = route.value
  const [kind, name, id] = path
  const chosen = linkTo('sessions', path)
  const search = query.get('search')?.trim().slice(0, 200) ?? ''
  const owner = query.get('of') ?? ''
  const pages = usePages<SessionSummary>(`${owner} ${search}`, async (cursor, signal) => {
    if (!config.value.plugins.includes('sessions') || config.value.identity === null)
      return { items: [], nextCursor: null }
    const asked = { ...(cursor && { cursor }), ...(search && { search }) }
    const { sessions, nextCursor } = await clientOf(owner).sessions.list(asked, { signal })
    return { items: sessions, nextCursor }
  })
  const known = KINDS.find(each => each === kind)
  return (
    <Panes all="Sessions" list={<List pages={pages} chosen={chosen} search={search} owner={owner} />}>
      {known && name && id && (
        <Session key={chosen} of={{ kind: known, name }} id={id} onChanged={pages.reload} />
      )}
    </Panes>
  )
}

function Absent() {
  if (!config.value.plugins.includes('sessions'))
    return (
      <Notice>
        This service keeps no sessions. To keep them, add the plugin `sessions()` of `servable/sessions`.
      </Notice>
    )
  return config.value.identity === null ? <Notice>{ABSENT}</Notice> : null
}

function List({
  pages,
  chosen,
  search,
  owner,
}: {
  pages: ReturnType<typeof usePages<SessionSummary>>
  chosen: string
  search: string
  owner: string
}) {
  const acting = useActing()
  const { items, reload } = pages
  const query = { ...(owner && { of: owner }), ...(search && { search }) }
  const exported = async () => save(await (await send('/sessions/export')).blob(), 'sessions.ndjson')
  return (
    <>
      <div class="bar">
        <div class="top">
          <h1 tabIndex={-1}>{owner ? `Sessions of ${visible(owner)}` : 'Sessions'}</h1>
          <span class="actions push">
            {owner && (
              <a class="button" href={linkTo('sessions')}>
                Mine
              </a>
            )}
            <button type="button" onClick={reload}>
              Refresh
            </button>
            {items.length > 0 && !owner && (
              <Action acting={acting} work={exported}>
                Export all
              </Action>
            )}
          </span>
        </div>
        <SearchField
          value={search}
          label="Search sessions"
          placeholder="Search titles and what was said"
          onSearch={typed =>
            goTo('sessions', [], { ...(owner && { of: owner }), ...(typed && { search: typed }) })
          }
        />
      </div>
      <Absent />
      {acting.error !== undefined && <Failure error={acting.error} />}
      {items.length > 0 && (
        <table class="list talks">
          <Heads
            of={[['Title'], ['Agent', 'name'], ['Messages', 'number count'], ['Last used', 'number last']]}
          />
          <tbody>
            {items.map(({ kind, name, id, title, count, updatedAt, isRunning }) => {
              const place = [kind, name, id]
              return (
                <tr key={linkTo('sessions', place)}>
                  <td>
                    <a
                      href={linkTo('sessions', place, query)}
                      aria-current={linkTo('sessions', place) === chosen || undefined}
                    >
                      {visible(title ?? id)}
                    </a>
                    {isRunning && <Status status="running" />}
                  </td>
                  <td class="name soft">{visible(name)}</td>
                  <td class="number count">{count}</td>
                  <td class="number last soft">
                    <Ago at={updatedAt} isBare />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      <More
        pages={pages}
        none={search ? 'No title has these words.' : 'There are no sessions yet. A chat begins one.'}
        absent={ABSENT}
      />
      {search && <Said key={search} search={search} owner={owner} query={query} found={items} />}
    </>
  )
}
