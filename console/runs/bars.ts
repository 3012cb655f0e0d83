/**
 * Folds the events of a run into bars: one for each tool call, step and model call. Text and thinking are part of the model call that
 * said them, or one bar where no model call is told.
 *
 * @module
 */

import type { RunEvent, Usage } from '../../src/agents/contract.ts'

/** A timed part of a run. */
export interface Bar {
  /** The id of a step or of a tool call. */
  readonly id?: string
  readonly kind: 'tool' | 'step' | 'model' | 'text' | 'artifact'
  readonly label: string
  /** The agent, if it is not the run's own. */
  readonly agent: string | undefined
  /** The bar in which it happens. */
  readonly parent: Bar | undefined
  /** Its nesting depth. */
  readonly depth: number
  readonly from: number
  /** When a model call said its first text or thought. */
  readonly first?: number | undefined
  /** The end. For an open bar, the latest time of the run. */
  readonly to: number
  /** `cut`: the run ended, or its process crashed, before this did. */
  readonly state: 'open' | 'done' | 'failed' | 'cut'
  /** Its details: arguments and result, or the text. */
  readonly shows: unknown
  /** What it used, where it tells. */
  readonly usage?: Usage | undefined
  /** Why it failed. */
  readonly error?: string | undefined
  /** The number of the event that told a model call. */
  readonly seq?: number
}

type Open = { -readonly [Name in keyof Bar]: Bar[Name] } & { isFolded?: boolean }

/** Deepest level that is shown. */
const MAX_DEPTH = 8

/** The bars of a run, while its events arrive. */
export class Bars {
  readonly #bars: Open[] = []
  /** Tool calls and steps by id. */
  readonly #byId = new Map<string, Open>()
  readonly #open = new Set<Open>()
  /** Texts that the next model call has said, by their agent and container. */
  readonly #texts = new Map<string, readonly Open[]>()
  readonly #isInterrupted = new Set<string>()
  #rows: { readonly count: number; readonly bars: readonly Bar[] } | undefined
  #isTimed: boolean | undefined
  #count = 0
  #now = 0

  /** Each below the one in which it happens, in the order of their begin. */
  get all(): readonly Bar[] {
    if (this.#rows?.count !== this.#count) this.#rows = { count: this.#count, bars: treeOf(this.#bars) }
    return this.#rows.bars
  }

  /** The latest position of the run: in milliseconds, or in events if times are unknown. */
  get end(): number {
    return this.#now
  }

  /** Whether positions are milliseconds. */
  get isTimed(): boolean {
    return this.#isTimed === true
  }

  /** `arrivedAt`: milliseconds since the start at its arrival, if the event itself has no time. */
  add(event: RunEvent, arrivedAt?: number): void {
    const time = event.at ?? arrivedAt
    this.#isTimed ??= time !== undefined
    this.#count++
    this.#now = this.#isTimed ? Math.max(this.#now, time ?? 0) : this.#count
    for (const bar of this.#open) bar.to = this.#now
    this.#see(event)
  }

  #see(event: RunEvent): void {
    switch (event.type) {
      case 'text':
      case 'thinking':
        return this.#addText(event)
      case 'message':
        return void this.#begin(event, 'text', 'message', event.parts).close('done')
      case 'tool_call_start':
        return this.#start(event, event.toolCall.id, 'tool', event.toolCall.name)
      case 'tool_call_ready':
        return this.#know(event.toolCallId, { args: event.args })
      case 'tool_call_end':
        return this.#endTool(event)
      case 'step':
        return this.#step(event)
      case 'model_call':
        return this.#model(event)
      case 'artifact':
        return void this.#begin(event, 'artifact', event.name ?? event.artifactId, event).close('done')
      case 'resumed':
      case 'finish':
      case 'error':
        return this.#cut()
      default:
    }
  }

  /** Text continues the last bar, unless another event has happened in its container. */
  #addText(event: RunEvent & { readonly type: 'text' | 'thinking'; readonly text: string }): void {
    const key = keyOf(event)
    const texts = this.#texts.get(key) ?? []
    let bar = this.#isInterrupted.has(key) ? undefined : texts.at(-1)
    if (bar === undefined) {
      bar = this.#begin(event, 'text', 'text', {}, false).bar
      this.#texts.set(key, [...texts, bar])
      this.#isInterrupted.delete(key)
    }
    // Pieces that were joined came until then.
    if (this.#isTimed) this.#now = Math.max(this.#now, event.until ?? 0)
    bar.to = this.#now
    bar.state = 'done'
    const said = bar.shows as Record<string, string>
    bar.shows = { ...said, [event.type]: (said[event.type] ?? '') + event.text }
  }

  #start(event: RunEvent, id: string, kind: 'tool' | 'step', label: string): void {
    const before = this.#byId.get(id)
    if (before !== undefined && this.#open.has(before)) return
    const { bar } = this.#begin(event, kind, label, undefined)
    bar.id = id
    this.#byId.set(id, bar)
  }

  #know(id: string, more: object): void {
    const bar = this.#byId.get(id)
    if (bar !== undefined) bar.shows = { ...Object(bar.shows), ...more }
  }

  #endTool(event: Extract<RunEvent, { type: 'tool_call_end' }>): void {
    const { toolCallId, result, error, code } = event
    if (!this.#byId.has(toolCallId)) this.#start(event, toolCallId, 'tool', toolCallId)
    this.#know(toolCallId, error === undefined ? { result } : { error, code })
    this.#byId.get(toolCallId)!.error = error
    this.#close(this.#byId.get(toolCallId)!, error === undefined ? 'done' : 'failed')
  }

  #step(event: Extract<RunEvent, { type: 'step' }>): void {
    const { id = event.name, name, status, durationMs, error } = event
    if (status === 'progress') return
    if (status === 'started' || !this.#byId.has(id)) this.#start(event, id, 'step', name)
    if (status === 'started') return
    const bar = this.#byId.get(id)!
    if (this.isTimed && durationMs !== undefined)
      bar.from = Math.min(bar.from, Math.max(0, bar.to - durationMs))
    this.#know(id, { durationMs, error })
    bar.error = error
    this.#close(bar, status === 'completed' ? 'done' : 'failed')
  }

  /** The event arrives when the call has ended. Its text came before. */
  #model(event: Extract<RunEvent, { type: 'model_call' }>): void {
    const { type: _, at: __, agent: ___, parentId: ____, usage, ...facts } = event
    const texts = this.#texts.get(keyOf(event)) ?? []
    const { bar, close } = this.#begin(event, 'model', event.model ?? 'model', facts)
    bar.usage = usage
    bar.seq = this.#count
    if (this.isTimed) bar.from = Math.max(0, this.#now - (event.durationMs ?? 0))
    const said = texts.filter(({ from }) => !this.isTimed || from >= bar.from - 1)
    for (const text of said) {
      text.isFolded = true
      bar.shows = { ...joinedShows(Object(text.shows), Object(bar.shows)) }
    }
    const [first] = said
    if (first) {
      bar.from = Math.min(bar.from, first.from)
      bar.first = first.from
    }
    this.#texts.delete(keyOf(event))
    close('done')
  }

  #begin(event: RunEvent, kind: Bar['kind'], label: string, shows: unknown, interrupts = true) {
    if (interrupts) this.#isInterrupted.add(keyOf(event))
    const { agent, parentId } = event
    const parent = parentId === undefined ? undefined : this.#byId.get(parentId)
    const depth = parent === undefined ? 0 : Math.min(MAX_DEPTH, parent.depth + 1)
    const from = this.#now
    const bar: Open = { kind, label, agent, parent, depth, from, to: from, state: 'open', shows }
    this.#bars.push(bar)
    if (interrupts) this.#open.add(bar)
    return { bar, close: (state: Bar['state']) => this.#close(bar, state) }
  }

  #close(bar: Open, state: Bar['state']): void {
    if (this.#open.delete(bar)) bar.state = state
  }

  #cut(): void {
    for (const bar of this.#open) this.#close(bar, 'cut')
    this.#texts.clear()
  }
}

function keyOf({ agent, parentId }: RunEvent): string {
  return JSON.stringify([agent, parentId])
}

/** The facts of a model call, with what it said before them. */
function joinedShows(said: Record<string, string>, facts: Record<string, unknown>): Record<string, unknown> {
  const { text = '', thinking = '', ...more } = facts
  const all = { thinking: `${said.thinking ?? ''}`, text: `${said.text ?? ''}` }
  const words = { thinking: `${thinking}${all.thinking}`, text: `${text}${all.text}` }
  return {
    ...(words.thinking && { thinking: words.thinking }),
    ...(words.text && { text: words.text }),
    ...more,
  }
}

/** Bars in the order of a tree: each parent before what happens in it. */
function treeOf(bars: readonly Open[]): readonly Bar[] {
  const inside = new Map<Bar | undefined, Bar[]>()
  for (const bar of bars) {
    if (bar.isFolded) continue
    const all = inside.get(bar.parent)
    if (all) all.push(bar)
    else inside.set(bar.parent, [bar])
  }
  const rows: Bar[] = []
  // A stack and no recursion: an agent may nest as deep as it likes.
  const stack = [...(inside.get(undefined) ?? [])].sort((a, b) => b.from - a.from)
  for (let bar = stack.pop(); bar !== undefined; bar = stack.pop()) {
    rows.push(bar)
    stack.push(...(inside.get(bar) ?? []).sort((a, b) => b.from - a.from))
  }
  return rows
}
