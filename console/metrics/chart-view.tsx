import { useEffect, useRef } from 'preact/hooks'
import type { MetricsStep } from '../../src/features/metrics/history.ts'
import { Time } from '../parts/time.tsx'
import { type Chart, shown } from './series.ts'

/** A chart, with its numbers as a table beside it. */
export function ChartView({ chart, steps }: { chart: Chart; steps: readonly MetricsStep[] }) {
  const into = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let isGone = false
    let remove = () => {}
    const data = {
      times: steps.map(({ at }) => Date.parse(at) / 1000),
      lines: chart.lines.map(({ of, ...line }) => ({ ...line, values: steps.map(of) })),
      write: chart.write ?? ((value: number) => value.toLocaleString()),
    }
    const redraw = () => {
      remove()
      void import('./charts.ts').then(({ draw }) => {
        if (!isGone && into.current) remove = draw(into.current, data)
      })
    }
    // The colours of a canvas do not change by themselves.
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    redraw()
    return () => {
      isGone = true
      scheme.removeEventListener('change', redraw)
      remove()
    }
  }, [chart, steps])
  const withRuns = steps.filter(({ runs }) => runs > 0).toReversed()
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{chart.title}</h2>
        <ul class="lines">
          {chart.lines.map(({ label, colour }) => (
            <li key={label} class={colour.slice(2)}>
              {label}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={into} class="canvas" aria-hidden="true" />
      <details>
        <summary>Numbers</summary>
        <table>
          <caption class="unseen">{chart.title}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {chart.lines.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {withRuns.map(step => (
              <tr key={step.at}>
                <th scope="row">
                  <Time at={step.at} />
                </th>
                {chart.lines.map(({ label, of }) => (
                  <td key={label}>{shown(of(step))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
