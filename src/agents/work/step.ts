/**
 * Does the work of a step, with a time limit and retries.
 *
 * @module
 */

import { abortWith } from '../../base/abort.ts'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { passed, unless } from '../../base/wake.ts'
import { closeQuietly } from '../reading.ts'
import type { Yielded } from '../run-types.ts'
import { withThrown } from '../thrown.ts'
import type { StepIdentity } from './call.ts'
import { withoutRepeats } from './map-items.ts'
import type { Scope } from './scope.ts'

/** The options of a step. */
export interface StepOptions {
  /**
   * Retries a step that fails, at most `times` times (0 to 100). `backoff` is the wait before a retry: milliseconds for the first
   * one, doubled for each later one, or a function of the number of the failed attempt, from 1. Default: 1,000.
   */
  readonly retry?: { readonly times: number; readonly backoff?: number | ((attempt: number) => number) }
  /** Milliseconds that each attempt may take. After that its signal fires, and it fails with `step_timeout`. Default: no limit. */
  readonly timeoutMs?: number
}

/** The longest time of a timer, in milliseconds. */
export const MAX_TIMER: number = 2 ** 31 - 1

const MAX_RETRIES = 100

/** Errors that would come again in another attempt. */
const LASTING: ReadonlySet<string> = new Set([
  'approval_denied',
  'code_changed',
  'run_too_large',
  'runs_not_stored',
])

/** Throws `code` for invalid options. */
export function checkStep(
  name: string,
  { retry, timeoutMs }: StepOptions,
  code: 'invalid_options' | 'agent_failed',
): void {
  const fail = (what: string) => {
    throw new ServableError(code, `Step \`${name}\`: ${what}`)
  }
  const { times = 0, backoff = 0 } = Object(retry) as Partial<NonNullable<StepOptions['retry']>>
  if (!(Number.isInteger(times) && times >= 0 && times <= MAX_RETRIES)) {
    fail(`\`retry.times\` must be a whole number from 0 to ${MAX_RETRIES}`)
  }
  if (typeof backoff !== 'function' && !isTime(backoff))
    fail('`retry.backoff` must be milliseconds, or a function')
  if (timeoutMs !== undefined && !(isTime(timeoutMs) && timeoutMs > 0)) {
    fail(`\`timeoutMs\` must be 1 to ${MAX_TIMER}`)
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIMER
}

/** What an attempt gets. */
export interface Attempt {
  /** From 1. */
  readonly attempt: number
  /** Fires with the run's signal, and when the time of the attempt is over. */
  readonly signal: AbortSignal
  /** The named work inside of the step. */
  readonly scope: Scope
}

/** A step and its run. */
export interface StepRun {
  readonly identity: StepIdentity
  readonly options: StepOptions
  readonly signal: AbortSignal
  /** The scope of the first attempt. All attempts share its names, so a name is counted on in the next one. */
  readonly scope: Scope
}

/** Does the work and its retries. Each failed attempt that is retried yields a progress event with the error. */
export async function* doStep<T>(
  { identity, options, signal, scope: first }: StepRun,
  begin: (attempt: Attempt) => AsyncGenerator<Yielded, T> | Promise<T> | T,
): AsyncGenerator<Yielded, T> {
  const { retry = { times: 0 }, timeoutMs } = options
  let scope = first
  for (let attempt = 1; ; attempt++) {
    try {
      return yield* doOnce({ attempt, signal, timeoutMs, scope }, begin)
    } catch (error) {
      const isLasting = isServableError(error) && LASTING.has(error.code)
      if (attempt > retry.times || signal.aborted || isLasting) throw error
      yield withThrown({ type: 'step', ...identity, status: 'progress', error: messageOf(error) }, error)
      // A retry that repeats an earlier run does not wait again.
      if (!scope.isBehind) await passed(backoffOf(retry.backoff, attempt), signal)
      scope = scope.again()
    }
  }
}

function backoffOf(backoff: NonNullable<StepOptions['retry']>['backoff'] = 1000, attempt: number): number {
  const ms = typeof backoff === 'function' ? backoff(attempt) : backoff * 2 ** (attempt - 1)
  return isTime(ms) ? ms : MAX_TIMER
}

async function* doOnce<T>(
  { attempt, signal, timeoutMs, scope }: Attempt & { readonly timeoutMs: number | undefined },
  begin: (attempt: Attempt) => AsyncGenerator<Yielded, T> | Promise<T> | T,
): AsyncGenerator<Yielded, T> {
  const limit = timeoutMs === undefined ? undefined : createLimit(timeoutMs, signal)
  try {
    const result = begin({ attempt, signal: limit?.signal ?? signal, scope })
    const isStream = typeof result === 'object' && result !== null && Symbol.asyncIterator in result
    const within = isStream && limit !== undefined ? limitedBy(limit, result) : result
    const value = isStream
      ? yield* read(within as AsyncGenerator<Yielded, T>, scope)
      : await (limit?.of(result) ?? result)
    scope.end()
    return value as T
  } finally {
    limit?.end()
  }
}

function read<T>(work: AsyncGenerator<Yielded, T>, scope: Scope): AsyncGenerator<Yielded, T> {
  return scope.isBehind ? withoutRepeats(work, scope) : work
}

/** The time limit of an attempt. */
interface Limit {
  readonly signal: AbortSignal
  /** Settles as the work does, or rejects when the time is over. */
  of<T>(work: T | Promise<T>): Promise<T>
  end(): void
}

function createLimit(ms: number, outer: AbortSignal): Limit {
  const own = new AbortController()
  const stop = () => abortWith(own, outer.reason)
  const late = () => own.abort(new ServableError('step_timeout', `The step took longer than ${ms} ms`))
  const timer = setTimeout(late, ms)
  if (outer.aborted) stop()
  else outer.addEventListener('abort', stop)
  const { signal } = own
  return {
    signal,
    async of(work) {
      // The work may fail after nobody waits for it.
      Promise.resolve(work).catch(() => {})
      return unless(signal, async () => work)
    },
    end() {
      clearTimeout(timer)
      outer.removeEventListener('abort', stop)
    },
  }
}

/** Reads a stream until the time is over. */
async function* limitedBy<T>(limit: Limit, work: AsyncGenerator<Yielded, T>): AsyncGenerator<Yielded, T> {
  let isOver = false
  try {
    while (true) {
      const result = await limit.of(work.next())
      isOver = result.done === true
      if (result.done) return result.value
      yield result.value
    }
  } finally {
    if (!isOver) closeQuietly(work)
  }
}
