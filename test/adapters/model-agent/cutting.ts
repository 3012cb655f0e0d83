/** Runs of a scripted model on a host whose process can be cut off at any point. */
import type { LanguageModel } from 'ai'
import { vi } from 'vitest'
import { later } from '../../../src/base/wake.ts'
import type { Answer, RunEvent, Servable, Tool } from '../../../src/index.ts'
import type { RunHost, StartRequest } from '../../../src/runs/stored/host.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import type { RunRecord } from '../../../src/runs/stored/record.ts'
import type { Target } from '../../../src/runs/target.ts'
import { MAX_REST_MS } from '../../../src/stores/deaths.ts'
import type { Store } from '../../../src/stores/store.ts'
import { eventsIn, read } from '../../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../../contracts/run-host/local.ts'
import { never, turn } from '../../support.ts'

type ModelV4 = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Stream = Awaited<ReturnType<ModelV4['doStream']>>['stream']
type Part = Stream extends ReadableStream<infer P> ? P : never

/** One answer of the model. */
export interface Round {
  readonly says?: readonly string[]
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: object }[]
}

/** What happens outside of the service, and where it is cut off. */
export class World {
  /** How often each thing was begun, and what has ended. */
  readonly begun = new Map<string, number>()
  readonly ended = new Set<string>()
  /** Idempotency keys by what they were given for. */
  readonly keys = new Map<string, Set<string>>()
  /** The attempts that tools were told. */
  readonly attempts: number[] = []
  /** Points that were passed. */
  passed = 0
  /** The calls in the middle of which it was cut off. */
  readonly cutInside = new Set<string>()
  readonly #cuts: number[]
  #inside: { readonly label: string; times: number } | undefined
  #reached: (() => void) | undefined

  /** `cuts` are points, in their order. */
  constructor(...cuts: number[]) {
    this.#cuts = cuts
  }

  /** A point at which the process may die, maybe inside of a call: then nothing goes on here. */
  async point(inside?: string): Promise<void> {
    const at = this.passed++
    await turn()
    const isDeath = inside !== undefined && inside === this.#inside?.label && this.#inside.times-- > 0
    if (!isDeath && at !== this.#cuts[0]) return
    if (!isDeath) this.#cuts.shift()
    if (inside !== undefined) this.cutInside.add(inside)
    this.#reached?.()
    await never()
  }

  /** Lets the process die in the middle of a call, so many times. */
  dieInside(label: string, times: number): void {
    this.#inside = { label, times }
  }

  /** Resolves at the next point at which the process dies. */
  cut(): Promise<undefined> {
    return new Promise(resolve => {
      this.#reached = () => resolve(undefined)
    })
  }

  begin(label: string): void {
    this.begun.set(label, (this.begun.get(label) ?? 0) + 1)
  }

  end(label: string): void {
    this.ended.add(label)
  }
}

/** A model that answers with the rounds in their order, then with the results that it was told. */
export function modelOf(name: string, rounds: readonly Round[], world: World): ModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: name,
    supportedUrls: {},
    doGenerate: () => never(),
    async doStream({ prompt }) {
      const place = prompt.filter(({ role }) => role === 'assistant').length
      const label = `${name} ${place}`
      world.begin(label)
      await world.point()
      const round = rounds[place] ?? { says: [resultsIn(prompt)] }
      return { stream: streamOf(round, label, world) }
    },
  }
}

/** All results in a prompt, in an order that says nothing of when they came. */
function resultsIn(prompt: Parameters<ModelV4['doStream']>[0]['prompt']): string {
  const results = prompt.flatMap(({ role, content }) =>
    role !== 'tool'
      ? []
      : content.flatMap(part =>
          part.type === 'tool-result' ? [`${part.toolName}=${JSON.stringify(part.output)}`] : [],
        ),
  )
  // The model's package tells an error of a tool that it calls itself with its name.
  return results.toSorted().join().replaceAll('"Error: ', '"')
}

function streamOf({ says = [], calls = [] }: Round, label: string, world: World): ReadableStream<Part> {
  const unified = calls.length > 0 ? 'tool-calls' : 'stop'
  const usage = {
    inputTokens: { total: 7, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 3, text: undefined, reasoning: undefined },
  }
  const parts: Part[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    { type: 'reasoning-end', id: 'r' },
    ...(says.length > 0 ? [{ type: 'text-start', id: 't' } as const] : []),
    ...says.map(delta => ({ type: 'text-delta', id: 't', delta }) as const),
    ...(says.length > 0 ? [{ type: 'text-end', id: 't' } as const] : []),
    ...calls.map(
      ({ id, tool, args }) =>
        ({ type: 'tool-call', toolCallId: id, toolName: tool, input: JSON.stringify(args) }) as const,
    ),
    { type: 'finish', finishReason: { unified, raw: undefined }, usage },
  ]
  const middle = Math.floor(parts.length / 2)
  let at = 0
  return new ReadableStream<Part>({
    async pull(controller) {
      if (at === middle || at === parts.length - 1) await world.point()
      const part = parts[at++]
      if (part !== undefined) controller.enqueue(part)
      if (at < parts.length) return
      world.end(label)
      controller.close()
    },
  })
}

/** A tool that notes its calls, and may be called again. The argument `label` says which call it is. */
export function toolOf(name: string, world: World, more: Partial<Tool> = {}): Tool {
  return {
    name,
    parameters: { type: 'object', required: ['label'] },
    annotations: { idempotentHint: true },
    async execute(args, { idempotencyKey, attempt }) {
      const { label } = args as { label: string }
      world.begin(label)
      world.attempts.push(attempt)
      world.keys.set(label, (world.keys.get(label) ?? new Set()).add(idempotencyKey))
      await world.point(label)
      if (name === 'broken') {
        world.end(label)
        throw new Error(`${label} failed`)
      }
      await world.point(label)
      world.end(label)
      return { did: label }
    },
    ...more,
  }
}

/** What came of a run, and of those that went on from it. */
export interface Played {
  readonly records: readonly RunRecord[]
  readonly events: readonly (readonly RunEvent[])[]
  /** What had ended when the process died, and how often it had been begun. */
  readonly doneBefore: ReadonlyMap<string, number>
  /** How often the process died. */
  readonly deaths: number
}

/** Runs a servable to its end. Whatever it waits for is answered: approvals with yes, but every second one with no. */
export async function play(servable: Servable, world: World, store: Store): Promise<Played> {
  const clientTools = [{ name: 'client', description: 'Of the client', parameters: { type: 'object' } }]
  const process = new Process(servable, world, store)
  const records: RunRecord[] = []
  const events: RunEvent[][] = []
  let next: Next | undefined = { input: 'go', options: { clientTools } }
  while (next !== undefined) {
    const record = await process.run(next)
    records.push(record)
    events.push(eventsIn(await read(process.host, record.id)))
    next = await process.answer(record)
  }
  const { doneBefore, deaths } = process
  return { records, events, doneBefore, deaths }
}

/** What a run is begun with. */
type Next = Omit<StartRequest, 'target' | 'owner' | 'isBackground'>

/** A process that dies where its world says so, and begins again. */
class Process {
  host: RunHost
  deaths = 0
  readonly doneBefore = new Map<string, number>()
  readonly #target: Target
  readonly #world: World
  readonly #store: Store

  constructor(servable: Servable, world: World, store: Store) {
    this.#target = { kind: servable.kind, name: servable.name, servable }
    this.#world = world
    this.#store = store
    this.host = this.#begin(store)
  }

  /** Runs until there is an end, however often the process dies. */
  async run(next: Next): Promise<RunRecord> {
    let dies = this.#world.cut()
    const { id } = await this.host.start({ target: this.#target, owner: null, isBackground: true, ...next })
    while (true) {
      const waiting = new AbortController()
      const record = await Promise.race([this.host.wait(id, null, waiting.signal), dies])
      if (record !== undefined) return record
      // A dead process looks after nothing any more.
      waiting.abort()
      await this.#died()
      dies = this.#world.cut()
      this.host = this.#begin(reopened(this.#store))
      await this.host.get(id, null)
      // A run of which several workers have died in a row rests before it goes on.
      vi.setSystemTime(Date.now() + MAX_REST_MS)
      await this.host.get(id, null)
    }
  }

  /** Answers all that a run waits for; undefined for one that waits for nothing. */
  async answer({ id, status, requests = [] }: RunRecord): Promise<Next | undefined> {
    if (status !== 'input_required') return undefined
    const answers = requests.map(({ id: request, kind, args }, place): Answer => {
      if (kind === 'client_tool') return { id: request, result: { picked: args } }
      return { id: request, decision: place % 2 === 0 ? 'approve' : 'deny' }
    })
    const { next } = await this.host.answer(id, null, answers, crypto.randomUUID())
    if (next === undefined) throw new Error('it does not go on')
    const { id: runId, input, options, continues } = next
    return { input, options: { ...options, runId }, continues }
  }

  /** What goes on beside the point at which it died comes to its end, and is noted. */
  async #died(): Promise<void> {
    this.deaths++
    // Nothing here waits for more than a timer that is due at once.
    for (let timers = 0; timers < 30; timers++) await later(0)
    const { ended, begun } = this.#world
    for (const label of ended) {
      if (!this.doneBefore.has(label)) this.doneBefore.set(label, begun.get(label) ?? 0)
    }
  }

  #begin(store: Store): RunHost {
    const settings = { ...SETTINGS, targetOf: () => this.#target }
    return createLocalHost({ store, settings, retention: {} })
  }
}

/** What a client sees of a run, without ids and times. */
export function seen({ records }: Played) {
  return records.map(({ status, error, result }) => ({
    status,
    code: error?.code,
    text: result?.text,
    usage: result?.usage,
    finishReason: result?.finishReason,
    structured: result?.structured,
    toolCalls: result?.toolCalls.map(({ toolCallId: _, ...call }) => JSON.stringify(call)).toSorted(),
  }))
}
