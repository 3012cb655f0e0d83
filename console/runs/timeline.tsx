import { useRef, useState } from 'preact/hooks'
import type { ModelCallContents } from '../../src/client/index.ts'
import { useLoaded } from '../loading.ts'
import { Action, useActing } from '../parts/action.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { Section } from '../parts/page.tsx'
import { goTo, route } from '../route.ts'
import { client, config, may, providerKeys } from '../service.ts'
import { duration, money, number, visible } from '../text.ts'
import { rowHeight, useWindow } from '../window.ts'
import type { Bar } from './bars.ts'
import type { RunLog } from './log.ts'

/** Which bars are shown. */
const CHOICES = {
  All: () => true,
  Tools: ({ kind }: Bar) => kind === 'tool',
  Models: ({ kind }: Bar) => kind === 'model',
  Failed: ({ state }: Bar) => state === 'failed' || state === 'cut',
} as const
type Choice = keyof typeof CHOICES

/** The span of the run that the axis shows, in milliseconds or events. */
interface Span {
  readonly from: number
  readonly to: number
}

/** The most pixels that opened details take: `.details` in `timeline.css`. */
const OPEN = 408

/** A timeline: a bar for each step, model call and tool call, below the one in which it happened. */
export function Timeline({ log: { id, bars, isWhole, record } }: { log: RunLog; version: number }) {
  const [choice, choose] = useState<Choice>('All')
  const [find, setFind] = useState('')
  const [zoom, setZoom] = useState<Span>()
  const { all, end, isTimed } = bars
  const failures = all.filter(({ state }) => state === 'failed')
  // The one that says why, and not the step around it.
  const firstFailure = failures.find(({ error }) => error !== undefined) ?? failures[0]
  const [picked, pick] = useState<Bar | null>()
  const open = picked === undefined ? firstFailure : picked
  const list = useRef<HTMLOListElement>(null)
  const words = find.trim().toLowerCase()
  const shown = all.filter(
    bar =>
      CHOICES[choice](bar) &&
      (words === '' || `${bar.label} ${bar.agent ?? ''}`.toLowerCase().includes(words)),
  )
  const height = rowHeight('--bar')
  const { from, to } = useWindow(list, shown.length, height)
  const first = Math.max(0, from - Math.ceil(OPEN / height))
  if (all.length === 0)
    return (
      <p class="soft" aria-busy={!isWhole}>
        {isWhole ? 'Nothing is recorded of what this run did.' : 'Nothing has happened yet…'}
      </p>
    )
  const span = zoom ?? { from: 0, to: Math.max(end, 1) }
  return (
    <Section
      id="timeline"
      title="Timeline"
      aside={
        <>
          <span class="actions push">
            <input
              type="search"
              class="narrow"
              aria-label="Find in the timeline"
              placeholder="Find"
              value={find}
              onInput={({ currentTarget }) => setFind(currentTarget.value)}
            />
            <Zoom span={span} end={end} around={open ?? undefined} zoom={setZoom} />
          </span>
          <fieldset class="seg" aria-label="What is shown">
            {(Object.keys(CHOICES) as Choice[]).map(each => (
              <button key={each} type="button" aria-pressed={each === choice} onClick={() => choose(each)}>
                {each}
              </button>
            ))}
          </fieldset>
        </>
      }
    >
      <div class="timeline">
        <Axis span={span} isTimed={isTimed} />
        {shown.length === 0 && <p class="soft">Nothing matches. Choose another filter.</p>}
        <ol ref={list} class="flow" aria-label="Timeline">
          {first > 0 && <li class="gap" aria-hidden="true" style={{ height: `${first * height}px` }} />}
          {shown.slice(first, to).map((bar, index) => (
            <BarRow
              key={first + index}
              id={id}
              bar={bar}
              span={span}
              isTimed={isTimed}
              isOpen={bar === open}
              toggle={() => pick(bar === open ? null : bar)}
              at={first + index + 1}
              count={shown.length}
            />
          ))}
          {to < shown.length && (
            <li class="gap" aria-hidden="true" style={{ height: `${(shown.length - to) * height}px` }} />
          )}
        </ol>
        {!isTimed && (
          <p class="soft small">The times of these steps are not recorded. They stand in their order.</p>
        )}
        {record?.status === 'running' && <p class="soft small">The run is not over.</p>}
      </div>
    </Section>
  )
}

function Zoom({
  span: { from, to },
  end,
  around,
  zoom,
}: {
  span: Span
  end: number
  /** What is opened stays in sight. */
  around: Bar | undefined
  zoom: (span: Span | undefined) => void
}) {
  const scale = (by: number) => {
    const length = Math.min(end, (to - from) * by)
    const middle = around ? (around.from + around.to) / 2 : (from + to) / 2
    const start = Math.min(end - length, Math.max(0, middle - length / 2))
    zoom(length >= end ? undefined : { from: start, to: start + length })
  }
  return (
    <>
      <button type="button" aria-label="Zoom in" disabled={to - from <= 1} onClick={() => scale(0.5)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" disabled={from <= 0 && to >= end} onClick={() => scale(2)}>
        −
      </button>
    </>
  )
}

/** Marks of the axis. */
const TICKS = [0, 0.25, 0.5, 0.75, 1]

function Axis({ span: { from, to }, isTimed }: { span: Span; isTimed: boolean }) {
  return (
    <p class="axis">
      <span class="actions">
        <span class="s">
          <i class="k agent" /> agent
        </span>
        <span class="s">
          <i class="k model" /> model
        </span>
        <span class="s">
          <i class="k tool" /> tool
        </span>
      </span>
      <span class="ticks">
        {TICKS.map(part => {
          const at = from + (to - from) * part
          return <span key={part}>{isTimed ? duration(at) : Math.round(at)}</span>
        })}
      </span>
      <span class="number">Took</span>
      <span class="number tokens">Tokens</span>
      <span class="number cost">Cost</span>
    </p>
  )
}

/** What the key of a bar looks like, and what it is called. */
const KEYS: Readonly<Record<Bar['kind'], readonly [mark: string, name: string]>> = {
  step: ['agent', 'step'],
  model: ['model', 'model'],
  text: ['model', 'text'],
  tool: ['tool', 'tool'],
  artifact: ['tool', 'file'],
}

function BarRow({
  bar,
  span,
  isTimed,
  isOpen,
  toggle,
  at,
  count,
  id,
}: {
  /** The run. */
  id: string
  bar: Bar
  span: Span
  isTimed: boolean
  isOpen: boolean
  toggle: () => void
  at: number
  count: number
}) {
  const { kind, label, agent, depth, from, to, state, usage, error } = bar
  const [mark, name] = KEYS[kind]
  const tokens = usage?.totalTokens
  const isNamed =
    agent !== undefined && agent !== label && agent !== bar.parent?.label && agent !== bar.parent?.agent
  return (
    <li aria-setsize={count} aria-posinset={at}>
      <button type="button" class="bar-row" aria-expanded={isOpen} onClick={toggle}>
        <span class="label" style={{ paddingInlineStart: `${depth * 16}px` }}>
          {state === 'failed' ? (
            <>
              <i class="i bad" />
              <span class="unseen">failed</span>
            </>
          ) : (
            <>
              <i class={`k ${mark} ${state}`} />
              <span class="unseen">{name}</span>
            </>
          )}
          <span class={`cut ${kind === 'step' ? 'lead' : ''}`}>
            {visible(label)} {isNamed && <span class="soft">{visible(agent)}</span>}{' '}
            {error !== undefined && <span class="bad">{visible(error)}</span>}
            {state === 'open' && <span class="live">running</span>}
            {state === 'cut' && <span class="soft">cut off</span>}
          </span>
        </span>
        <Track bar={bar} span={span} mark={state === 'failed' ? 'bad' : mark} />
        <span class="number">{isTimed && duration(to - from)}</span>
        <span class="number tokens">{tokens !== undefined && number(tokens)}</span>
        <span class="number cost">{usage?.cost !== undefined && money(usage.cost)}</span>
      </button>
      {isOpen && <Details key={bar.seq} bar={bar} id={id} />}
    </li>
  )
}

/** The bar itself, as far as it lies in the span. A model call is pale until its first text. */
function Track({ bar: { from, to, first }, span, mark }: { bar: Bar; span: Span; mark: string }) {
  const length = span.to - span.from
  const place = (position: number) => Math.min(1, Math.max(0, (position - span.from) / length)) * 100
  const isSeen = to >= span.from && from <= span.to
  const rect = (name: string, start: number, end: number) => (
    // A bar of no length is a line, also at the end.
    <rect
      class={`k-${name}`}
      x={`${Math.min(place(start), 99.3)}%`}
      width={`${Math.max(0.7, place(end) - place(start))}%`}
    />
  )
  return (
    <svg class="track" aria-hidden="true">
      {isSeen && first !== undefined && rect('first', from, first)}
      {isSeen && rect(mark, first ?? from, to)}
    </svg>
  )
}

/** What a model was sent and replied, if the service keeps it. Only a development server does. */
function useContents(id: string, { kind, seq }: Bar): Partial<ModelCallContents> {
  const isAsked = kind === 'model' && seq !== undefined && !config.value.production
  const { value } = useLoaded(`${id} ${seq}`, async signal => {
    if (!isAsked) return {}
    const page = await client.runs.events(
      id,
      { after: seq - 1, limit: 1, include: 'model_calls' },
      { signal },
    )
    return Object(page.events[0]?.event)
  })
  return value ?? {}
}

/** Starts another run that has what was done until the end of a step or a call. */
function GoOn({ id, from }: { id: string; from: string }) {
  const acting = useActing()
  const { keepsInput, keepsJournal } = config.value
  const { query } = route.value
  if (!keepsInput || !keepsJournal || !may('retry', query.get('of') ?? undefined)) return null
  const start = async () => {
    const next = await client.runs.retry(id, { from, keys: providerKeys.value })
    goTo('runs', [next.id], { ...Object.fromEntries(query), view: 'compare' })
  }
  return (
    <>
      <p class="actions">
        <Action acting={acting} work={start}>
          Start a new run after this
        </Action>
      </p>
      {acting.error !== undefined && <Failure error={acting.error} />}
    </>
  )
}

function Details({ bar, id }: { bar: Bar; id: string }) {
  const { label, kind, agent, shows, error, state } = bar
  const { prompt, reply } = useContents(id, bar)
  const { args, result, text, thinking, error: _, code, ...more } = Object(shows)
  const parts: Readonly<Record<string, unknown>> = {
    Arguments: args,
    Result: result,
    Thinking: thinking,
    Text: text,
    Prompt: prompt ?? undefined,
    Reply: reply,
    Details: Object.values(more).some(each => each !== undefined) ? more : undefined,
  }
  const known = Object.entries(parts).filter(([, value]) => value !== undefined)
  return (
    <section class={`details ${state === 'failed' ? 'failed' : ''}`} aria-label={`Details of ${label}`}>
      <p class="soft small">
        {kind}
        {agent !== undefined && ` of ${visible(agent)}`}
      </p>
      {error !== undefined && (
        <p>
          {visible(error)} {code && <code>{code}</code>}
        </p>
      )}
      {known.map(([title, value]) => (
        <div key={title}>
          <h3>{title}</h3>
          <JsonView value={value} label={`${title.toLowerCase()} of ${label}`} />
        </div>
      ))}
      {known.length === 0 && error === undefined && <p class="soft">Nothing more is recorded.</p>}
      {bar.id !== undefined && state === 'done' && <GoOn id={id} from={bar.id} />}
    </section>
  )
}
