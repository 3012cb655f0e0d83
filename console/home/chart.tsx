import type { Step } from './stats.ts'

/** The statuses of a bar from its foot up, with their classes. */
const STACK = [
  ['completed', ''],
  ['answered', ''],
  ['cancelled', 'b-off'],
  ['failed', 'b-bad'],
  ['input_required', 'b-wait'],
  ['queued', 'b-live'],
  ['running', 'b-live'],
] as const

const sum = ({ counts }: Step) => Object.values(counts).reduce((all, count) => all + count, 0)

/** A round number at or above another: the end of an axis. */
export function axisEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, Number.MIN_VALUE)))
  const factor = [1, 2, 3, 4, 5, 6, 8, 10].find(each => each * power >= value * 0.999) ?? 10
  return Number((factor * power).toPrecision(3))
}

/** Bars of runs by status. Lines in a fixed box: no layout, no script of a library. */
export function StatusBars({ steps, label, most }: { steps: readonly Step[]; label: string; most: number }) {
  const height = 100
  const paths = new Map<string, string>()
  for (const [index, step] of steps.entries()) {
    let foot = height
    for (const [status, name] of STACK) {
      const count = step.counts[status] ?? 0
      if (count === 0) continue
      const length = (count / most) * height
      // A gap parts what differs, so that colour is not the only sign.
      const gap = foot < height && name !== '' ? Math.min(1.5, length / 3) : 0
      paths.set(name, `${paths.get(name) ?? ''}M${index + 0.5} ${foot - gap}V${foot - length}`)
      foot -= length
    }
  }
  return (
    <svg viewBox={`0 0 ${steps.length} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="grid" d={`M0 0h${steps.length}M0 50h${steps.length}M0 100h${steps.length}`} />
      {[...paths].map(([name, d]) => (
        <path key={name} class={name} d={d} />
      ))}
    </svg>
  )
}

/** Bars of one number. */
export function Bars({ values, label, most }: { values: readonly number[]; label: string; most: number }) {
  const d = values
    .map((value, index) => (value > 0 ? `M${index + 0.5} 40V${40 - (value / most) * 40}` : ''))
    .join('')
  return (
    <svg
      class="low"
      viewBox={`0 0 ${values.length} 40`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="grid" d={`M0 40h${values.length}`} />
      <path d={d} />
    </svg>
  )
}

/** The small chart of an agent. */
export function Spark({ steps }: { steps: readonly Step[] }) {
  const most = Math.max(1, ...steps.map(sum))
  const failed = (step: Step) => step.counts.failed ?? 0
  const path = (from: (step: Step) => number, to: (step: Step) => number) =>
    steps
      .map((step, index) =>
        to(step) > from(step)
          ? `M${index + 0.5} ${20 - (from(step) / most) * 20}V${20 - (to(step) / most) * 20}`
          : '',
      )
      .join('')
  return (
    <svg class="spark" viewBox={`0 0 ${steps.length} 20`} preserveAspectRatio="none" aria-hidden="true">
      <path
        d={path(
          () => 0,
          step => sum(step) - failed(step),
        )}
      />
      <path class="b-bad" d={path(step => sum(step) - failed(step), sum)} />
    </svg>
  )
}
