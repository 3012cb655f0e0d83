import type { Target } from '../catalog.ts'
import { ofWhom, runsLink } from '../home/links.ts'
import { statsOf } from '../home/stats.ts'
import { useLoaded } from '../loading.ts'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading, Section } from '../parts/page.tsx'
import { SPANS } from '../runs/filters.ts'
import { newestRuns } from '../runs/newest.ts'
import { RunTable } from '../runs/table.tsx'
import { config } from '../service.ts'
import { duration, money, number } from '../text.ts'

/** Runs that are shown. */
const LINES = 10

/** The figures of the runs of the last day, and the newest of them. */
export function LastDay({ target: { kind, name } }: { target: Target }) {
  const { notStored, listsRuns } = config.value
  const isListed = notStored === null && listsRuns
  const { value, error } = useLoaded(`${kind} ${name} ${isListed}`, async signal => {
    if (!isListed) return undefined
    const now = Date.now()
    const from = now - SPANS.day!
    const { runs, isCut } = await newestRuns({ ...ofWhom(), kind, name, since: new Date(from) }, signal)
    return { stats: statsOf(runs, from, now), isCut }
  })
  const filters = { ...ofWhom(), kind, name, last: 'day' }
  return (
    <Section
      id="h-day"
      title="Last day"
      aside={
        isListed && (
          <a class="push" href={runsLink({ kind, name, last: 'day' })}>
            All runs
          </a>
        )
      }
    >
      {!isListed && (
        <Notice>
          {notStored ?? 'Runs are shown to users who are logged in. Log in, or set `runs.listAnonymous`.'}
        </Notice>
      )}
      {error !== undefined && <Failure error={error} />}
      {isListed && value === undefined && error === undefined && <Loading />}
      {value && <Figures {...value} />}
      {value && value.stats.runs.length > 0 && (
        <div class="fit">
          <RunTable runs={value.stats.runs.slice(0, LINES)} filters={filters} chosen={undefined} />
        </div>
      )}
    </Section>
  )
}

function Figures({ stats, isCut }: { stats: ReturnType<typeof statsOf>; isCut: boolean }) {
  const { runs, failed, ended, p95Ms, cost } = stats
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Runs</dt>
          <dd class="big">
            {number(runs.length)}
            {isCut && '+'}
          </dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd class="big">
            {ended === 0 ? '–' : (Math.ceil((failed / ended) * 1000) / 10).toLocaleString()}
            {ended > 0 && <small> %</small>}
          </dd>
        </div>
        <div>
          <dt>95 % within</dt>
          <dd class="big">{p95Ms === undefined ? '–' : duration(p95Ms)}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd class="big">{cost === undefined ? '–' : money(cost)}</dd>
        </div>
      </dl>
      {runs.length > 0 && runs.every(run => run.durationMs === undefined) && (
        <p class="soft small">To see tokens and cost, set `runs.measure`.</p>
      )}
    </>
  )
}
