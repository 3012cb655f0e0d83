import type { SchedulePage, ScheduleView } from '../../src/features/schedules/routes.ts'
import { askAsAdmin } from '../admin/ask.ts'
import { ofAdmin } from '../admin/token.ts'
import { TokenForm } from '../admin/token-form.tsx'
import { usePages } from '../pages.ts'
import { Action, useActing } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { More } from '../parts/more.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { config } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT = 'The service has no schedules. Give it the plugin `schedules([…])` of `servable/schedules`.'

/** The schedules. An administrator pauses them, and starts runs. */
export function Schedules() {
  return (
    <>
      <h1 tabIndex={-1}>Schedules</h1>
      <Shown />
    </>
  )
}

function Shown() {
  if (!config.value.plugins.includes('schedules')) return <Notice>{ABSENT}</Notice>
  return !ofAdmin.isOpen('schedules') ? <TokenForm what="Schedules" label="Administration" /> : <List />
}

function List() {
  const pages = usePages('', async (cursor, signal) => {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`
    const page = await askAsAdmin<SchedulePage>(`/schedules${query}`, { signal })
    return { items: page.schedules, nextCursor: page.nextCursor }
  })
  const replace = (next: ScheduleView) =>
    pages.update(items => items.map(each => (each.name === next.name ? next : each)))
  return (
    <>
      <ul class="cards">
        {pages.items.map(each => (
          <li key={each.name} class="card">
            <Card schedule={each} replace={replace} />
          </li>
        ))}
      </ul>
      <More pages={pages} none="There are no schedules." absent={ABSENT} />
    </>
  )
}

function Card({ schedule, replace }: { schedule: ScheduleView; replace: (next: ScheduleView) => void }) {
  const { name, cron, timezone, target, owner, isPaused, nextTickAt, lastRun, lastError } = schedule
  const acting = useActing()
  const path = `/schedules/${encodeURIComponent(name)}`
  const post = (action: string) => askAsAdmin<ScheduleView>(`${path}/${action}`, { method: 'POST' })
  const runNow = async () => {
    await post('run')
    replace(await askAsAdmin<ScheduleView>(path))
  }
  return (
    <>
      <h2>{name}</h2>
      <Facts
        facts={{
          Runs: `${target.kind} ${visible(target.name)}`,
          When: `${cron} (${timezone})`,
          Owner: visible(owner),
          'Next run': isPaused ? 'paused' : nextTickAt && <Time at={nextTickAt} />,
          'Last run': lastRun && (
            <>
              <Time at={lastRun.tickAt} /> {lastRun.status && <Status run={{ status: lastRun.status }} />}
            </>
          ),
          Error: lastError && visible(`${lastError.message} (${lastError.code})`),
        }}
      />
      <p class="actions">
        <Action acting={acting} work={async () => replace(await post(isPaused ? 'resume' : 'pause'))}>
          {isPaused ? 'Resume' : 'Pause'}
        </Action>
        <Action acting={acting} work={runNow}>
          Run now
        </Action>
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}
