import type { ScheduleView } from '../../src/features/schedules/routes.ts'
import { askAsAdmin, replacedBy, useListed } from '../admin/ask.ts'
import { ForAdmins } from '../admin/for-admins.tsx'
import { ForgetToken } from '../admin/token-form.tsx'
import { Facts } from '../parts/facts.tsx'
import { Managed } from '../parts/managed.tsx'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../route.ts'
import { config, may } from '../service.ts'
import { visible } from '../text.ts'

const ABSENT =
  'This service has no schedules. To add them, add the plugin `schedules([…])` of `servable/schedules`.'

/** The schedules. An administrator turns them off and on, and starts runs. */
export function Schedules() {
  const isThere = config.value.plugins.includes('schedules')
  return (
    <ForAdmins title="Schedules" right="schedules" isThere={isThere} absent={ABSENT}>
      <Opened />
    </ForAdmins>
  )
}

function Opened() {
  const pages = useListed<ScheduleView>('schedules', '/schedules')
  const replace = (next: ScheduleView) => pages.update(replacedBy(next, ({ name }) => name === next.name))
  const acts = ({ name, isPaused }: ScheduleView) => {
    const path = `/schedules/${encodeURIComponent(name)}`
    const post = (action: string) => askAsAdmin<ScheduleView>(`${path}/${action}`, { method: 'POST' })
    const runNow = async () => {
      await post('run')
      replace(await askAsAdmin<ScheduleView>(path))
    }
    return [
      {
        title: isPaused ? 'Turn on' : 'Turn off',
        work: async () => replace(await post(isPaused ? 'resume' : 'pause')),
      },
      { title: 'Run now', work: runNow },
    ]
  }
  return (
    <Managed
      of={{
        title: 'Schedules',
        what: 'Runs that this service starts by itself. Their times are set in the code of the service.',
        pages,
        heads: ['Name', 'Runs', 'Next'],
        row: ({ name, target, cron, isPaused, nextTickAt, lastError }) => ({
          id: name,
          name,
          status: isPaused ? 'off' : lastError ? 'error' : 'on',
          about: `${target.name}, ${cron}`,
          due: nextTickAt,
        }),
        acts,
        detail: schedule => <Details of={schedule} />,
        above: <ForgetToken />,
        none: 'There are no schedules yet. Add some to `schedules([…])`.',
        absent: ABSENT,
      }}
    />
  )
}

function Details({ of }: { of: ScheduleView }) {
  const { cron, timezone, target, owner, isPaused, nextTickAt, lastRun, lastError } = of
  const last = lastRun && <Time at={lastRun.tickAt} />
  return (
    <Facts
      facts={{
        Runs: `${target.kind} ${visible(target.name)}`,
        When: `${cron} (${timezone})`,
        'In the name of': visible(owner),
        'Next run': isPaused ? 'none while it is off' : nextTickAt && <Time at={nextTickAt} />,
        'Last run': lastRun && (
          <>
            {may('read', owner) ? <a href={linkTo('runs', [lastRun.id], { of: owner })}>{last}</a> : last}{' '}
            {lastRun.status && <Status run={{ status: lastRun.status }} />}
          </>
        ),
        'Why it did not start': lastError && visible(`${lastError.message} (${lastError.code})`),
      }}
    />
  )
}
