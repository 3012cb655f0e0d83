/**
 * One servable inside the run of another: a member's turn in a team, a step of a workflow.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import type { RunEvent, RunInput, RunResult, Servable } from './contract.ts'
import { eventsOf } from './derive.ts'
import { elapsedSince } from './elapsed.ts'
import { errorOf, isRunEvent, isWaiting } from './event.ts'
import { Fold } from './fold.ts'
import type { RunContext, Yielded } from './perform.ts'
import { optionsFor } from './provider-key.ts'
import { retold } from './retold.ts'
import { thrownWith, withThrown } from './thrown.ts'
import { usageOf } from './usage.ts'

/**
 * Runs another servable once; yields its events but the last, and returns its result. A run that goes on gets the recorded
 * result. One that waits for someone makes its caller wait. Throws when it fails.
 */
export function callServable(
  servable: Servable,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<RunEvent, RunResult> {
  return context.scope.once('call', servable.name, path => callAt(servable, input, context, path))
}

/** The call itself, at its path in the run. */
export async function* callAt(
  servable: Servable,
  input: RunInput,
  context: RunContext,
  path: string,
): AsyncGenerator<RunEvent, RunResult> {
  const startedAt = performance.now()
  const fold = new Fold()
  const { scope, ...rest } = context
  const before = String(scope.work.stateAt(path) ?? '')
  const memory = context.memory?.inside(servable)
  const inside = { ...rest, work: scope.work.inside(path), ...(memory && { memory }) }
  const events = eventsOf(servable, input, optionsFor(servable, inside))
  for await (const event of { [Symbol.asyncIterator]: () => events }) {
    if (!isRunEvent(event)) {
      const text = `${servable.kind} \`${servable.name}\` yielded something that is not a run event`
      throw new ServableError('invalid_event', text)
    }
    if (event.type === 'error') throw errorOf(event)
    fold.add(event)
    if (isWaiting(event)) {
      scope.work.keepAt(path, before + fold.text)
      // Whoever reads the caller closes it here.
      yield { ...event, ...(event.usage && { usage: usageOf(servable, event.usage) }) }
    }
    if (event.type === 'finish') break
    yield ofServable(event, servable.name)
  }
  const result = fold.result({ runId: context.runId, durationMs: elapsedSince(startedAt) })
  return { ...result, text: before + result.text, usage: usageOf(servable, result.usage) }
}

/** A tool call says whose it is; of one inside of a team inside, that is known already. */
function ofServable(event: RunEvent, agent: string): RunEvent {
  if (event.type !== 'tool_call_start' && event.type !== 'tool_call_end') return event
  if (event.agent !== undefined) return event
  return withThrown({ ...event, agent }, thrownWith(event))
}

/** Puts `work` between a `step` event that tells its start and one that tells its end. */
export async function* asStep<T>(
  name: string,
  index: number,
  work: AsyncGenerator<Yielded, T>,
): AsyncGenerator<Yielded, T> {
  const startedAt = performance.now()
  yield { type: 'step', name, index, status: 'started' }
  try {
    const value = yield* work
    yield { type: 'step', name, index, status: 'completed', durationMs: elapsedSince(startedAt) }
    return value
  } catch (error) {
    const durationMs = elapsedSince(startedAt)
    yield withThrown({ type: 'step', name, index, status: 'failed', durationMs }, error)
    throw error
  }
}

/** Turns what `work` says into progress of the step `name`, so that it is told but is no part of the answer. */
export async function* aside<T>(
  name: string,
  index: number,
  work: AsyncGenerator<Yielded, T>,
): AsyncGenerator<Yielded, T> {
  return yield* retold(work, said => {
    const text = spoken(said)
    return text === undefined ? said : { type: 'step', name, index, status: 'progress', text }
  })
}

/** The text of what a body yields, if it is text. */
export function spoken(value: Yielded): string | undefined {
  if (typeof value === 'string') return value
  return value.type === 'text' ? value.text : undefined
}
