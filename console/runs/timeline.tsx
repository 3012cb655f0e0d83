import { useState } from 'preact/hooks'
import { JsonView } from '../parts/json-view.tsx'
import { ChoiceOfRows } from '../parts/rows.tsx'
import { duration } from '../text.ts'
import type { Bar } from './bars.ts'
import type { RunLog } from './log.ts'

const STATES: Readonly<Record<Bar['state'], string>> = {
  open: 'at work',
  done: '',
  failed: '✗ failed',
  cut: 'cut off',
}

/** A timeline: a bar for each tool call, step, model call, and text. */
export function Timeline({ log: { bars, isWhole } }: { log: RunLog; version: number }) {
  const [chosen, choose] = useState<number>()
  const { all, end, isTimed } = bars
  const bar = chosen === undefined ? undefined : all[chosen]
  if (all.length === 0)
    return (
      <p aria-busy={!isWhole}>
        {isWhole ? 'Nothing that took time is known of this run.' : 'No events yet…'}
      </p>
    )
  return (
    <>
      <h3>Timeline</h3>
      <p class="soft">
        {isTimed ? `${duration(end)} in all` : 'The events have no times: this is their order.'}
      </p>
      <ChoiceOfRows
        label="Timeline"
        count={all.length}
        chosen={chosen}
        choose={choose}
        row={index => barRow(all[index]!, end, isTimed)}
      />
      {bar && (
        <section aria-label="The bar that is chosen">
          <h3>
            {bar.label} {bar.agent && <span class="soft">of {bar.agent}</span>}
          </h3>
          <JsonView key={chosen} value={bar.shows ?? {}} label={bar.label} />
        </section>
      )}
    </>
  )
}

function barRow({ kind, label, depth, from, to, state }: Bar, end: number, isTimed: boolean) {
  const percent = (position: number) => `${end === 0 ? 0 : (position / end) * 100}%`
  return (
    <>
      <span class="label">
        {'\u2003'.repeat(depth)}
        {label}
      </span>
      <svg class="bar" aria-hidden="true">
        <rect class={`${kind} ${state}`} x={percent(from)} width={percent(to - from)} height="100%" rx="2" />
        {/* A bar of no length is a line, also at the end. */}
        <rect class={`${kind} ${state}`} x={percent(Math.min(from, end * 0.99))} width="3" height="100%" />
      </svg>
      <span class="took">
        {isTimed && duration(to - from)} {STATES[state]}
      </span>
    </>
  )
}
