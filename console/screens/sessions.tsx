import type { SessionSummary } from '../../src/client/index.ts'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Heads } from '../parts/heads.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Panes } from '../parts/panes.tsx'
import { save } from '../parts/save.ts'
import { Status } from '../parts/status.tsx'
import { linkTo, route } from '../route.ts'
import { KINDS } from '../runs/filters.ts'
import { client, config, send } from '../service.ts'
import { Session } from '../sessions/session.tsx'
import { visible } from '../text.ts'

const ABSENT = 'Sessions are shown to users who are logged in. Log in, or add an `authenticate` middleware.'

/** The sessions of the user, and the details of one. */
export function Sessions() {
  const { path } = route.value
  const [kind, name, id] = path
  const chosen = linkTo('sessions', path)
  const pages = usePages<SessionSummary>('sessions', async (cursor, signal) => {
    if (!config.value.plugins.includes('sessions') || config.value.identity === null)
      return { items: [], nextCursor: null }
    const { sessions, nextCursor } = await client.sessions.list(cursor ? { cursor } : {}, { signal })
    return { items: sessions, nextCursor }
  })
  const known = KINDS.find(each => each === kind)
  return (
    <Panes all="Sessions" list={<List pages={pages} chosen={chosen} />}>
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

function List({ pages, chosen }: { pages: ReturnType<typeof usePages<SessionSummary>>; chosen: string }) {
  const acting = useActing()
  const { items, reload } = pages
  const exported = async () => save(await (await send('/sessions/export')).blob(), 'sessions.ndjson')
  return (
    <>
      <div class="bar">
        <div class="top">
          <h1 tabIndex={-1}>Sessions</h1>
          <span class="actions push">
            <button type="button" onClick={reload}>
              Refresh
            </button>
            {items.length > 0 && (
              <Action acting={acting} work={exported}>
                Export all
              </Action>
            )}
          </span>
        </div>
      </div>
      <Absent />
      {acting.error !== undefined && <Failure error={acting.error} />}
      {items.length > 0 && (
        <table class="list talks">
          <Heads of={[['Title'], ['Agent', 'name'], ['Messages', 'number'], ['Last used', 'number last']]} />
          <tbody>
            {items.map(({ kind, name, id, title, count, updatedAt, isRunning }) => {
              const link = linkTo('sessions', [kind, name, id])
              return (
                <tr key={link}>
                  <td>
                    <a href={link} aria-current={link === chosen || undefined}>
                      {visible(title ?? id)}
                    </a>
                    {isRunning && <Status status="running" />}
                  </td>
                  <td class="name soft">{visible(name)}</td>
                  <td class="number">{count}</td>
                  <td class="number last soft">
                    <Ago at={updatedAt} isBare />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      <More pages={pages} none="There are no sessions yet. A chat begins one." absent={ABSENT} />
    </>
  )
}
