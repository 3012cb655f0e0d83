import { useEffect, useState } from 'preact/hooks'
import { lostSince, useReconnected } from '../connection.ts'
import { onNews } from '../live.ts'
import { Failure, Notice } from '../parts/notice.tsx'
import { Loading } from '../parts/page.tsx'
import { goTo, route } from '../route.ts'
import { SPANS } from '../runs/filters.ts'
import { MOST, type Newest, newestRuns } from '../runs/newest.ts'
import { merged } from '../runs/numbers.ts'
import { config } from '../service.ts'
import { number, visible } from '../text.ts'
import { Figures } from './figures.tsx'
import { ofWhom, runsLink } from './links.ts'
import { AgentTable, Failures, Waiting } from './lists.tsx'
import { RunsChart } from './runs-chart.tsx'
import { type Stats, statsOf, today } from './stats.ts'

/** Milliseconds after which all is read again, and after which the numbers move with the time. */
const AGAIN_MS = 60_000

/** Is it well, what waits, what does it cost: the first screen. Each number leads to its list. */
export function Home() {
  const span = Object.keys(SPANS).find(each => each === route.value.query.get('span')) ?? 'hour'
  const { notStored, listsRuns } = config.value
  const isListed = notStored === null && listsRuns
  const { counted, error, now } = useRuns(span, isListed)
  if (!isListed) return <Unlisted why={notStored} />
  if (error !== undefined && counted === undefined)
    return (
      <>
        <h1 tabIndex={-1}>Home</h1>
        <Failure error={error} />
      </>
    )
  if (counted === undefined)
    return (
      <>
        <h1 tabIndex={-1}>Home</h1>
        <Loading />
      </>
    )
  const from = now - SPANS[span]!
  const stats = statsOf(counted.runs, from, now)
  return (
    <>
      <VerdictLine stats={stats} span={span} isCut={counted.isCut} />
      <Figures stats={stats} span={span} runs={counted.runs} isCut={counted.isCut} />
      <div class="two">
        <RunsChart stats={stats} span={span} from={from} now={now} />
        <Waiting />
        <Failures stats={stats} span={span} />
        <AgentTable stats={stats} span={span} />
      </div>
    </>
  )
}

/** Where no runs can be counted. */
function Unlisted({ why }: { why: string | null }) {
  return (
    <>
      <h1 tabIndex={-1}>Home</h1>
      <Notice>
        {why ?? 'Runs are shown to users who are logged in. Log in, or set `runs.listAnonymous`.'}
      </Notice>
      <div class="two">
        <Waiting />
      </div>
    </>
  )
}

/** Reads the runs of the span and of this day, and follows them. */
function useRuns(span: string, isListed: boolean) {
  const [counted, setCounted] = useState<Newest>()
  const [error, setError] = useState<unknown>()
  const [now, setNow] = useState(Date.now())
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (!isListed) return
    const controller = new AbortController()
    const { signal } = controller
    const read = async () => {
      if (document.hidden) return
      try {
        const at = Date.now()
        const next = await newestRuns(
          { ...ofWhom(), since: new Date(Math.min(today(at), at - SPANS[span]!)) },
          signal,
        )
        setCounted(next)
        setError(undefined)
        setNow(at)
      } catch (failure) {
        if (!signal.aborted) setError(failure)
      }
    }
    void read()
    const timer = setInterval(read, AGAIN_MS)
    const stop = onNews(event => {
      if (event.type === 'all') return
      setNow(Date.now())
      setCounted(before => {
        if (before === undefined) return before
        if (event.type === 'removed')
          return { ...before, runs: before.runs.filter(({ id }) => id !== event.id) }
        return { ...before, runs: merged(before.runs, [event.run]).slice(0, MOST) }
      })
    })
    return () => {
      controller.abort()
      clearInterval(timer)
      stop()
    }
  }, [span, isListed, turn])
  useReconnected(() => setTurn(before => before + 1))
  return { counted, error, now }
}

function VerdictLine({ stats, span, isCut }: { stats: Stats; span: string; isCut: boolean }) {
  const { runs, failed, ended, cause, counts } = stats
  const verdict = lostSince.value === undefined ? stats.verdict : 'Not well'
  const share = ended === 0 ? 0 : failed / ended
  const runs_ = `${number(runs.length)}${isCut ? '+' : ''} ${runs.length === 1 ? 'run' : 'runs'}`
  return (
    <div class="top verdict">
      <svg class="ring" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" />
        <circle class="part" cx="12" cy="12" r="9" pathLength="1" stroke-dasharray={`${share} 1`} />
      </svg>
      <h1 tabIndex={-1}>{verdict}</h1>
      <p class="soft">
        {lostSince.value !== undefined && 'The service does not answer. '}
        {runs.length === 0 && `No runs in the last ${span}.`}
        {runs.length > 0 && failed === 0 && `${runs_} in the last ${span}, none failed.`}
        {failed > 0 && (
          <>
            {`${number(failed)} of ${runs_} failed in the last ${span}. `}
            {cause && (
              <>
                {shareOf(cause.count, failed)}
                <a
                  href={runsLink({
                    last: span,
                    status: 'failed',
                    kind: cause.run.kind,
                    name: cause.run.name,
                  })}
                >
                  {`${visible(cause.run.name)}: ${cause.run.error?.code ?? 'failed'}`}
                </a>
                .
              </>
            )}
          </>
        )}
        {(counts.running ?? 0) > 0 && ` ${number(counts.running!)} running now.`}
      </p>
      <fieldset class="seg push" aria-label="Time">
        {Object.keys(SPANS).map(each => (
          <button
            key={each}
            type="button"
            aria-pressed={each === span}
            onClick={() => goTo('home', [], each === 'hour' ? {} : { span: each })}
          >
            {each.charAt(0).toUpperCase() + each.slice(1)}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

/** How many of the failures have one cause. */
function shareOf(count: number, failed: number): string {
  if (count < failed) return `${number(count)} of them ${count === 1 ? 'is' : 'are'} `
  return failed === 1 ? 'It was ' : 'All of them are '
}
