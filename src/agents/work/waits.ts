/**
 * What a body may wait for: a person, a time, and parallel work. A body that waits for a person ends with a finish event that
 * holds its requests. The run that goes on runs the body again, which then gets the answer.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { passed } from '../../base/wake.ts'
import { isWaiting } from '../event.ts'
import { requestOf } from '../input-request.ts'
import { fitOf, shownSchema } from '../misfit.ts'
import type { FinishEvent, InputRequest, RunEvent } from '../run-types.ts'
import { type SteeredMessage, steeredEvent } from '../turn.ts'
import { addUsage, NO_USAGE } from '../usage.ts'
import { asStep } from './call.ts'
import { mapItems } from './map-items.ts'
import { merge } from './merge.ts'
import type { RunContext, Yielded } from './perform.ts'
import { Scope } from './scope.ts'
import { type Attempt, checkStep, doStep, MAX_TIMER, type StepOptions } from './step.ts'
import { pathOf } from './work.ts'

/** A question to a person. */
export interface Question {
  /** What to show. Default: the name. */
  readonly message?: string
  /** A schema of the value: JSON Schema, or a schema that offers it. The answer must fit. Default: any JSON. */
  readonly schema?: unknown
  /**
   * An address that the person is to open, for what must not pass through a client, such as a password, a payment or a sign-in elsewhere:
   * `https:`, or `http:` of this machine. It is a line of the message too. `ask` then returns true, which says that somebody has answered:
   * ask the service at the address what was done there. It has no `schema`.
   */
  readonly url?: string
}

/** What a step gets beside the context of its body. Work that it names is a part of the step. */
export interface StepFacts {
  /** The same each time this step of this run is done: pass it to services that take an idempotency key. */
  readonly idempotencyKey: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
}

/** The work of a step: a value, or a generator that yields text and events and returns a value. Values must be JSON. */
export type StepWork<Context, T> = (
  context: Context & StepFacts,
) => AsyncGenerator<Yielded, T> | Promise<T> | T

/** What a body may wait for, with `yield*`. */
export interface Waits<Context> {
  /**
   * Asks a person. The run finishes with a request of the kind `question`. The run that goes on returns the answer's value here.
   * Names are counted, so the same one may be asked again.
   *
   * @example
   * const size = yield* context.ask('size', { message: 'Which size?', schema: { type: 'string' } })
   */
  ask(name: string, question?: Question): AsyncGenerator<Yielded, unknown>
  /**
   * Does named work once: a run that goes on returns its recorded value. It yields `step` events. The work gets its own context,
   * which it must use instead of the outer one.
   *
   * @example
   * const order = yield* context.step('order', ({ idempotencyKey }) => shop.order(item, idempotencyKey))
   */
  step<T>(name: string, work: StepWork<Context, T>, options?: StepOptions): AsyncGenerator<Yielded, T>
  /**
   * The messages that clients send while the body is at work, if its servable has `steering`. `yield* context.steering.take()` gives those
   * that have come since the last call, in their order, at most 100 in a run. It does not wait. It counts as named work.
   */
  readonly steering: { take(): AsyncGenerator<Yielded, readonly SteeredMessage[]> }
  /** Waits for `ms` milliseconds, at most 24.8 days. A run that goes on does not wait again. */
  sleep(name: string, ms: number): AsyncGenerator<Yielded, void>
  /**
   * Runs generators in parallel and returns their values in order. If some wait for someone or fail, the others end first; then
   * all requests are sent together, and the first failure in order is thrown. Names are counted as work begins, so any work that
   * is not the first of its list entry needs a name of its own, or a step around it.
   */
  parallel<T extends readonly unknown[]>(
    work: { readonly [Index in keyof T]: AsyncGenerator<Yielded, T[Index]> },
  ): AsyncGenerator<Yielded, T>
}

/** What a body gets: the run, its waits, and the members of its kind. */
export type BodyContext<Extra> = RunContext & Waits<BodyContext<Extra>> & Extra

/** Makes the context of a body. `extend` adds the members of its kind. Steps call it for their own part of the run. */
export function bodyContext<Extra extends object>(
  run: RunContext,
  extend: (run: RunContext) => Extra,
): BodyContext<Extra> {
  const { scope, runId, signal } = run
  let steps = 0
  /** The context of an attempt of a step. */
  const insideOf = ({ attempt, signal: own, scope: inner }: Attempt, path: string) => {
    const context = bodyContext({ ...run, work: inner.work, scope: inner, signal: own }, extend)
    return { ...context, idempotencyKey: `${inner.work.first ?? runId}/${path}`, attempt }
  }
  return {
    ...run,
    ...extend(run),
    ask: (name, question) => ask(name, question, scope, runId),
    step(name, work, options = {}) {
      checkStep(name, options, 'agent_failed')
      const index = steps++
      return scope.once('step', name, path => {
        const identity = { id: path, name, index }
        const isTriedAgain = (options.retry?.times ?? 0) > 0
        const inner = new Scope(scope.work.inside(path), { isTriedAgain })
        const step = { identity, options, signal, scope: inner }
        return asStep(
          identity,
          doStep(step, attempt => work(insideOf(attempt, path))),
        )
      })
    },
    steering: { take: () => take(run) },
    sleep: (name, ms) => sleep(name, ms, scope, signal),
    parallel: work => scope.together(parallel(work, scope)),
  }
}

/** Takes the messages that have come. The run that goes on gets the same ones at the same place. */
async function* take({ scope, inbox }: RunContext): AsyncGenerator<Yielded, readonly SteeredMessage[]> {
  if (inbox === undefined) return []
  const messages = yield* scope.once('steering', 'steering', async function* () {
    const news = await inbox.take()
    yield* news.map(steeredEvent)
    return news
  })
  inbox.know(messages)
  return messages
}

async function* ask(
  name: string,
  { message = name, schema, url }: Question = {},
  scope: Scope,
  runId: string,
): AsyncGenerator<Yielded, unknown> {
  const path = scope.next(name, 'ask')
  const shown = shownSchema(schema)
  const opened = url === undefined ? {} : { url: addressOf(name, url, schema) }
  const answer = scope.work.answeredAt(path)?.answer
  let misfit = ''
  if (answer !== undefined && 'value' in answer) {
    if (opened.url) return true
    const fit = await fitOf(structuredClone(answer.value), schema)
    if ('value' in fit) return fit.value
    misfit = ` (${fit.misfit})`
    scope.work.refuse(path)
  }
  const text = `${message}${misfit}${opened.url ? `\n\n${opened.url}` : ''}`
  const id = `${runId}/${path}`
  return yield* waitFor(scope, [
    await requestOf({
      ...{ id, kind: 'question', message: text, ...opened },
      ...(shown !== undefined && { schema: shown }),
    }),
  ])
}

/** What a person may be sent to: no password in it, and no page in plain text, except of this machine. */
const ADDRESS = /^(https:\/\/[^@/]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)\/.{0,2000}$/

function addressOf(name: string, url: string, schema: unknown): string {
  const address = URL.canParse(url) ? new URL(url).href : ''
  if (schema === undefined && ADDRESS.test(address)) return address
  throw new ServableError(
    'agent_failed',
    `\`ask\`: the \`url\` of \`${name}\` must be an \`https:\` address without a password, and then there is no \`schema\``,
  )
}

/** Ends the body: its reader closes it after this event. */
export async function* waitFor(
  { work }: Scope,
  requests: readonly InputRequest[],
): AsyncGenerator<RunEvent, never> {
  work.checkKept()
  yield { type: 'finish', finishReason: 'input_required', requests }
  throw new ServableError('internal_error', 'A body that waits was read on')
}

/** The shortest sleep, in milliseconds, whose end is journalled. A run that goes on then waits only for the rest. */
const MIN_KEPT_SLEEP = 1000

async function* sleep(
  name: string,
  ms: number,
  scope: Scope,
  signal: AbortSignal,
): AsyncGenerator<Yielded, void> {
  if (!(ms >= 0 && ms <= MAX_TIMER)) {
    throw new ServableError('agent_failed', `\`sleep\`: the time must be 0 to ${MAX_TIMER} ms`)
  }
  const { work } = scope
  // biome-ignore lint/correctness/useYield: it waits.
  yield* scope.once('sleep', name, async function* (path) {
    const begun = work.stateAt(path)
    const until = typeof begun === 'number' ? begun : Date.now() + ms
    if (begun === undefined && work.isJournalled && ms >= MIN_KEPT_SLEEP) {
      work.keepAt(path, until)
      await work.checkpoint()
    }
    // The minimum matters if the clock was set back.
    await passed(Math.min(ms, Math.max(0, until - Date.now())), signal)
  })
}

/** The end of a lane: its value, or what it waits for. The other lanes go on. */
export type LaneEnd<T> = { readonly value: T } | { readonly waits: FinishEvent }

/** Reads one of several parallel bodies until it waits for someone. */
export async function* untilItWaits<T>(
  lane: AsyncGenerator<Yielded, T>,
): AsyncGenerator<Yielded, LaneEnd<T>> {
  let result = await lane.next()
  try {
    for (; !result.done; result = await lane.next()) {
      if (isWaiting(result.value)) return { waits: result.value }
      yield result.value
    }
    return { value: result.value }
  } finally {
    if (!result.done) await lane.return(undefined as T)
  }
}

/** Joins the requests and the usage of the lanes that wait. The usage of the others comes once all have ended. */
export function joinedWaits(ends: readonly object[]): FinishEvent | undefined {
  const waits = ends.flatMap(end => ('waits' in end ? [end.waits as FinishEvent] : []))
  if (waits.length === 0) return undefined
  return {
    type: 'finish',
    finishReason: 'input_required',
    requests: waits.flatMap(({ requests = [] }) => requests),
    usage: waits.reduce((sum, { usage = NO_USAGE }) => addUsage(sum, usage), NO_USAGE),
  }
}

async function* parallel<T extends readonly unknown[]>(
  work: { readonly [Index in keyof T]: AsyncGenerator<Yielded, T[Index]> },
  scope: Scope,
): AsyncGenerator<Yielded, T> {
  const group = scope.nextGroup()
  const lanes = newItemsOf(work, group, scope)
  const ends: (LaneEnd<unknown> | { readonly threw: unknown })[] = []
  for await (const item of merge(lanes.map(untilItEnds), scope.work.lookahead)) {
    if (item.done) ends[item.lane] = item.value
    else yield item.value
  }
  const values = ends.map(end => {
    if ('threw' in end) throw end.threw
    return 'value' in end ? end.value : undefined
  })
  const waiting = joinedWaits(ends)
  if (waiting === undefined) {
    scope.work.keepAt(group, undefined)
    return values as unknown as T
  }
  scope.work.keepAt(
    group,
    ends.map(end => ('waits' in end ? end.waits.requests?.map(pathOf) : null)),
  )
  yield waiting
  throw new ServableError('internal_error', 'A body that waits was read on')
}

/** Drops what each lane has sent before: it repeats until the point where it waited or ended. */
function newItemsOf(
  lanes: readonly AsyncGenerator<Yielded, unknown>[],
  group: string,
  scope: Scope,
): readonly AsyncGenerator<Yielded, unknown>[] {
  if (!scope.isRepeating) return lanes
  const waited = scope.work.stateAt(group) as readonly (readonly string[] | null)[] | undefined
  return lanes.map((lane, index) => {
    const requests = waited?.[index]
    const isOld = () => requests == null || scope.isBehindOf(requests)
    const isNew = (item: Yielded) => isWaiting(item) || scope.isNew(item) || !isOld()
    return mapItems(lane, item => (isNew(item) ? scope.asNew(item) : undefined))
  })
}

/** Reads one of several parallel bodies until it waits for someone or fails. */
async function* untilItEnds<T>(
  lane: AsyncGenerator<Yielded, T>,
): AsyncGenerator<Yielded, LaneEnd<T> | { readonly threw: unknown }> {
  try {
    return yield* untilItWaits(lane)
  } catch (threw) {
    return { threw }
  }
}
