/** The charts: uPlot in a separate file, which is loaded with the first chart. */
import uPlot from 'uplot'
import { clock } from '../text.ts'

/** One line of a chart. */
export interface Line {
  readonly label: string
  /** The CSS custom property of its colour. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

/** The data of a chart. */
export interface ChartData {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  /** Writes a value of the axis. */
  readonly write: (value: number) => string
}

const HEIGHT = 160

/** Draws a chart into an element, with its width. Returns a function that removes it. */
export function draw(into: HTMLElement, { times, lines, write }: ChartData): () => void {
  // A canvas does not support custom properties, so the browser resolves the colour.
  const colour = (name: string) => {
    into.style.color = `var(${name})`
    return getComputedStyle(into).color
  }
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--hair'), width: 1 },
    ticks: { show: false },
  }
  const chart = new uPlot(
    {
      width: into.clientWidth,
      height: HEIGHT,
      cursor: { show: false },
      padding: [8, 28, 0, 0],
      legend: { show: false },
      scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
      axes: [
        { ...axis, values: (_, times) => times.map(at => clock(at * 1000)) },
        { ...axis, size: 64, values: (_, values) => values.map(write) },
      ],
      series: [
        {},
        ...lines.map(line => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 2,
          points: { show: true, size: 5, fill: colour(line.colour) },
        })),
      ],
    },
    [times as number[], ...lines.map(({ values }) => values as (number | null)[])],
    into,
  )
  const watcher = new ResizeObserver(() => chart.setSize({ width: into.clientWidth, height: HEIGHT }))
  watcher.observe(into)
  return () => {
    watcher.disconnect()
    chart.destroy()
  }
}
