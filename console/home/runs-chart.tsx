import { lookOf } from '../parts/look.ts'
import { Section } from '../parts/page.tsx'
import { clock, money, number } from '../text.ts'
import { axisEnd, Bars, StatusBars } from './chart.tsx'
import { runsLink } from './links.ts'
import type { Stats } from './stats.ts'

const LEGEND = ['completed', 'failed', 'input_required', 'running', 'cancelled'] as const

/** The runs of the span by status, and their cost on the same axis. */
export function RunsChart({
  stats,
  span,
  from,
  now,
}: {
  stats: Stats
  span: string
  from: number
  now: number
}) {
  const { steps, counts } = stats
  const sums = steps.map(step => Object.values(step.counts).reduce((all, count) => all + count, 0))
  const most = axisEnd(Math.max(1, ...sums))
  const costs = steps.map(({ cost }) => cost)
  const dearest = Math.max(...costs)
  const told = LEGEND.map(status => `${counts[status] ?? 0} ${lookOf(status).word.toLowerCase()}`).join(', ')
  const each = { hour: 'a minute', day: 'in 24 minutes', week: 'in 3 hours' }[span] ?? ''
  return (
    <Section
      id="h-runs"
      title={`Runs ${each}`}
      aside={
        <p class="legend push">
          {LEGEND.map(status => {
            const { word, shape } = lookOf(status)
            const count = counts[status] ?? 0
            // Colour is for what there is.
            const isQuiet = count === 0 || shape === 'good' || shape === 'off'
            const filter = status === 'input_required' ? 'waiting' : status
            return (
              <a
                key={status}
                class={isQuiet ? 'soft' : shape}
                href={runsLink({ last: span, status: filter })}
              >
                <i class={`i ${shape}`} />
                {word} <b>{number(count)}</b>
              </a>
            )
          })}
        </p>
      }
    >
      <figure class="plot">
        <StatusBars steps={steps} most={most} label={`Runs of the last ${span}: ${told}.`} />
        <span class="most">{number(most)}</span>
      </figure>
      {dearest > 0 && (
        <figure class="plot cost">
          <figcaption class="soft">Cost, up to {money(dearest)}</figcaption>
          <Bars values={costs} most={dearest} label={`Cost of the last ${span}: ${money(stats.cost ?? 0)}`} />
        </figure>
      )}
      <p class="ticks" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75].map(part => (
          <span key={part}>{tick(from + (now - from) * part, span)}</span>
        ))}
        <span>now</span>
      </p>
    </Section>
  )
}

const days = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit' })

function tick(at: number, span: string): string {
  return span === 'week' ? days.format(at) : clock(at)
}
