import { useEffect, useState } from 'preact/hooks'
import type { AgentMetrics, MetricsJson } from '../../src/features/metrics/json.ts'
import { ofMetrics } from '../admin/token.ts'
import { MetricsTokenForm } from '../admin/token-form.tsx'
import { useLoaded } from '../loading.ts'
import { ChartView } from '../metrics/chart-view.tsx'
import { Happenings } from '../metrics/happenings.tsx'
import { CHARTS, lastMinutes } from '../metrics/series.ts'
import { Heads } from '../parts/heads.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { client, codeOf } from '../service.ts'
import { duration, money, number } from '../text.ts'

const REFRESH_MS = 10_000
const ABSENT = 'This service has no metrics. To add them, give it a `metricsExporter`.'
const NO_HISTORY =
  'This service keeps no history for charts. To keep the last hour, set `history: true` of its `MetricsExporter`.'

/** Counts of runs: over the last hour, by name, and live. */
export function Metrics() {
  const [minutes, setMinutes] = useState(15)
  const token = ofMetrics.value.value
  const key = token === undefined ? 'user' : 'token'
  const totals = useLoaded(key, signal =>
    ofMetrics.ask(headers => client.metrics.json(undefined, { signal, headers })),
  )
  const history = useLoaded(key, signal =>
    ofMetrics.ask(headers => client.metrics.history({ signal, headers })),
  )
  const { reload } = totals
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return
      reload()
      history.reload()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const hasTotals = totals.value !== undefined
  return (
    <>
      <h1 tabIndex={-1}>Metrics</h1>
      {codeOf(totals.error) === 'unauthorized' ? (
        <MetricsTokenForm />
      ) : (
        totals.error !== undefined && <Failure error={totals.error} absent={ABSENT} />
      )}
      {hasTotals && history.error !== undefined && codeOf(history.error) === 'not_found' && (
        <Notice>{NO_HISTORY}</Notice>
      )}
      {history.value && (
        <section aria-label="The last hour">
          <label>
            Show{' '}
            <select value={minutes} onChange={event => setMinutes(Number(event.currentTarget.value))}>
              <option value={15}>the last 15 minutes</option>
              <option value={60}>the last hour</option>
            </select>
          </label>
          <div class="cards">
            {CHARTS.map(chart => (
              <ChartView key={chart.title} chart={chart} steps={lastMinutes(history.value!, minutes)} />
            ))}
          </div>
        </section>
      )}
      {totals.value && <Totals metrics={totals.value} />}
      {hasTotals && <Happenings />}
    </>
  )
}

const HEADS = [
  'Name',
  'Kind',
  'Runs',
  'Running',
  'Errors',
  'Mean time',
  '95 % within',
  'Tokens',
  'Cost',
  'Tool calls',
] as const

function Totals({ metrics }: { metrics: MetricsJson }) {
  const rows: (readonly [name: string, kind: string, AgentMetrics])[] = [
    ['all', '', metrics.global],
    ...Object.entries(metrics.byAgent).map(([name, each]) => [name, 'agent', each] as const),
    ...Object.entries(metrics.byTeam).map(([name, each]) => [name, 'team', each] as const),
    ...Object.entries(metrics.byWorkflow).map(([name, each]) => [name, 'workflow', each] as const),
  ]
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Since the service started</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone */}
      <section class="scroller" tabIndex={0} aria-label="Counts by name">
        <table class="totals">
          <Heads of={HEADS.map((title, index) => [title, index < 2 ? undefined : 'number'])} />
          <tbody>
            {rows.map(([name, kind, each]) => (
              <tr key={`${kind} ${name}`}>
                <th scope="row">{name}</th>
                <td>{kind}</td>
                <td class="number">{each.runs}</td>
                <td class="number">{each.activeRuns}</td>
                <td class="number">{each.errors}</td>
                <td class="number">{duration(each.avgDurationMs)}</td>
                <td class="number">{duration(each.p95DurationMs)}</td>
                <td class="number">{number(each.totalTokens)}</td>
                <td class="number">{each.totalCost === undefined ? '–' : money(each.totalCost)}</td>
                <td class="number">{each.toolCallCount}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}
