import type { Target } from '../catalog.ts'
import { useLoaded } from '../loading.ts'
import { Section } from '../parts/page.tsx'
import { linkTo } from '../route.ts'
import type { Bar } from '../runs/bars.ts'
import { type RunLog, useLog } from '../runs/log.ts'
import { client, config } from '../service.ts'
import { duration, number, visible } from '../text.ts'

/** The most steps, and the most parts of one, that are drawn. */
const MOST_STEPS = 100
const MOST_PARTS = 12

/** The steps of a workflow in their order, with what the user's last run of it did in each. */
export function Steps({ target }: { target: Target }) {
  const { kind, name } = target
  const { notStored, listsRuns } = config.value
  const isListed = kind === 'workflow' && notStored === null && listsRuns
  const { value: last } = useLoaded(`${kind} ${name} ${isListed}`, async signal => {
    if (!isListed) return undefined
    const { runs } = await client.runs.list({ kind, name, limit: 1 }, { signal })
    return runs[0]?.id
  })
  if (kind !== 'workflow') return null
  if (last !== undefined) return <LaidOver target={target} id={last} />
  return (target.steps ?? []).length > 0 && <Graph steps={(target.steps ?? []).map(step => ({ step }))} />
}

/** A step with its bar in the last run, and what happened inside of it. */
interface Node {
  readonly step: string
  readonly bar?: Bar | undefined
  readonly parts?: readonly Bar[]
}

function LaidOver({ target, id }: { target: Target; id: string }) {
  const { log } = useLog(id)
  const nodes = nodesOf(target.steps ?? [], log)
  return nodes.length > 0 && <Graph steps={nodes} last={id} />
}

/** A workflow that names no steps has those of its last run. */
function nodesOf(names: readonly string[], log: RunLog | undefined): readonly Node[] {
  const all = log?.bars.all ?? []
  const top = all.filter(({ kind, parent }) => kind === 'step' && parent === undefined)
  const steps = names.length > 0 ? names : [...new Set(top.map(({ label }) => label))]
  return steps.map(step => {
    // A step that ran more than once shows its last time.
    const bar = top.findLast(({ label }) => label === step)
    return { step, bar, parts: all.filter(({ parent }) => bar !== undefined && parent === bar) }
  })
}

function Graph({ steps, last }: { steps: readonly Node[]; last?: string }) {
  return (
    <Section
      id="h-steps"
      title="Steps"
      aside={
        last !== undefined && (
          <a class="push" href={linkTo('runs', [last])}>
            Last run
          </a>
        )
      }
    >
      <ol class="graph">
        {steps.slice(0, MOST_STEPS).map(({ step, bar, parts = [] }) => (
          <li key={step} class={bar?.state ?? 'idle'}>
            <div>
              <b>{visible(step)}</b> <State bar={bar} isKnown={last !== undefined} />
            </div>
            {parts.length > 0 && (
              <ul>
                {parts.slice(0, MOST_PARTS).map((part, index) => (
                  <li key={index} class={part.state}>
                    {visible(part.label)} <State bar={part} isKnown />
                  </li>
                ))}
                {parts.length > MOST_PARTS && <li class="soft">{number(parts.length - MOST_PARTS)} more</li>}
              </ul>
            )}
          </li>
        ))}
      </ol>
      {steps.length > MOST_STEPS && <p class="soft">{number(steps.length - MOST_STEPS)} more steps</p>}
    </Section>
  )
}

const STATES = { open: 'at work', done: 'done', failed: 'failed', cut: 'cut off' } as const

/** What became of a step in the last run. */
function State({ bar, isKnown }: { bar: Bar | undefined; isKnown: boolean }) {
  if (bar === undefined) return isKnown ? <span class="soft small">not reached</span> : null
  const { state, from, to } = bar
  return (
    <span class={`small ${state === 'failed' ? 'bad' : 'soft'}`}>
      {STATES[state]}
      {state !== 'open' && `, ${duration(to - from)}`}
    </span>
  )
}
