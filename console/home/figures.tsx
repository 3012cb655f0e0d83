import { waitingCount, waitingRequests } from '../approvals/live.ts'
import { linkTo } from '../route.ts'
import type { Listed } from '../runs/numbers.ts'
import { config } from '../service.ts'
import { age, duration, money, number } from '../text.ts'
import { runsLink } from './links.ts'
import { type Stats, sumOf, today } from './stats.ts'

/** The four figures: how much goes well, how quick it is, what waits, and what it costs. */
export function Figures({
  stats,
  span,
  runs,
  isCut,
}: {
  stats: Stats
  span: string
  runs: readonly Listed[]
  isCut: boolean
}) {
  const { doneShare, failed, ended, medianMs, p95Ms, cost } = stats
  const start = today(Date.now())
  const spent = sumOf(runs.filter(({ createdAt }) => Date.parse(createdAt) >= start))
  const waiting = waitingCount.value
  const first = nextToExpire()
  const hasInbox = config.value.plugins.includes('approvals')
  return (
    <dl class="figures">
      <div>
        <dt>Done</dt>
        <dd class="big">
          <a href={runsLink({ last: span, status: 'completed' })}>
            {doneShare === undefined ? '–' : (Math.floor(doneShare * 1000) / 10).toLocaleString()}
            {doneShare !== undefined && <small> %</small>}
          </a>
        </dd>
        <dd>
          {failed > 0 ? (
            <>
              <a class="s bad" href={runsLink({ last: span, status: 'failed' })}>
                <i class="i bad" />
                {number(failed)} failed
              </a>{' '}
              of {number(ended)} that ended
            </>
          ) : (
            `of ${number(ended)} that ended`
          )}
        </dd>
      </div>
      <div>
        <dt>Took</dt>
        <dd class="big">
          <a href={runsLink({ last: span, sort: 'took' })}>
            {medianMs === undefined ? '–' : duration(medianMs)}
          </a>
        </dd>
        <dd>
          {p95Ms === undefined
            ? 'no run is done yet'
            : `for half of the runs; 95 % took up to ${duration(p95Ms)}`}
        </dd>
      </div>
      <div>
        <dt>Waiting for you</dt>
        <dd class="big">
          <a href={hasInbox ? linkTo('approvals') : runsLink({ status: 'waiting' })}>
            {number(hasInbox ? waiting : (stats.counts.input_required ?? 0))}
          </a>
        </dd>
        <dd>
          {first ? (
            <span class="s wait">
              <i class="i wait" />
              the next expires in {age(Date.parse(first) - Date.now())}
            </span>
          ) : (
            'nothing expires'
          )}
        </dd>
      </div>
      <div>
        <dt>Cost today</dt>
        <dd class="big">
          <a href={runsLink({ since: localTime(start), sort: 'cost' })}>
            {spent === undefined ? '–' : money(spent)}
            {isCut && spent !== undefined && <small> at least</small>}
          </a>
        </dd>
        <dd>{cost === undefined ? 'the cost of runs is not known' : `${money(cost)} in the last ${span}`}</dd>
      </div>
    </dl>
  )
}

/** When the next request expires (ISO 8601). */
function nextToExpire(): string | undefined {
  return waitingRequests.value.flatMap(({ expiresAt }) => expiresAt ?? []).sort()[0]
}

/** A time as a field of a form has it. */
function localTime(at: number): string {
  const zone = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - zone).toISOString().slice(0, 16)
}
