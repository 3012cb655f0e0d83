/**
 * One servable inside the run of another: a member's turn in a team, a step of a workflow.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { EventFacts, RunEvent, RunInput, RunResult, Servable, StepEvent } from '../contract.ts'
import { eventsOf } from '../derive.ts'
import { elapsedSince } from '../elapsed.ts'
import { errorOf, isRunEvent, isTerminal, isWaiting } from '../event.ts'
import { Fold } from '../fold.ts'
import { optionsFor } from '../provider-key.ts'
import { thrownWith, withThrown } from '../thrown.ts'
import { usageOf } from '../usage.ts'
import type { RunContext, Yielded } from './perform.ts'
import { retold } from './retold.ts'

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
  const traceparent = context.traceparentOf?.(path) ?? context.traceparent
  const inside = { ...rest, work: scope.work.inside(path), ...(memory && { memory }), traceparent }
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
    yield withFact(event, 'agent', servable.name)
  }
  const result = fold.result({ runId: context.runId, durationMs: elapsedSince(startedAt) })
  return { ...result, text: before + result.text, usage: usageOf(servable, result.usage) }
}

/** The event with a fact that it does not tell itself. */
function withFact(event: RunEvent, fact: 'agent' | 'parentId', value: string): RunEvent {
  return event[fact] === undefined ? withFacts(event, { [fact]: value }) : event
}

/** A copy of the event with these facts. */
export function withFacts(event: RunEvent, facts: EventFacts): RunEvent {
  const told = { ...event, ...facts }
  const thrown = thrownWith(event)
  return thrown === undefined ? told : withThrown(told, thrown)
}

/** A step, as its events tell it. */
export type StepPlace = Pick<StepEvent, 'name' | 'index'> & { readonly id: string }

/** Puts `work` between a `step` event that tells its start and one that tells its end; what it yields is told as inside. */
export async function* asStep<T>(
  place: StepPlace,
  work: AsyncGenerator<Yielded, T>,
): AsyncGenerator<RunEvent, T> {
  const startedAt = performance.now()
  const step = { type: 'step', ...place } as const
  yield { ...step, status: 'started' }
  try {
    let result = await work.next()
    try {
      for (; !result.done; result = await work.next()) {
        const { value } = result
        const event: RunEvent = typeof value === 'string' ? { type: 'text', text: value } : value
        yield isRunEvent(event) && !isTerminal(event) ? withFact(event, 'parentId', place.id) : event
      }
    } finally {
      if (!result.done) await work.return(undefined as T)
    }
    yield { ...step, status: 'completed', durationMs: elapsedSince(startedAt) }
    return result.value
  } catch (error) {
    yield withThrown({ ...step, status: 'failed', durationMs: elapsedSince(startedAt) }, error)
    throw error
  }
}

/**
 * Turns what a step of {@link asStep} says into its progress, so that it is told but is no part of the answer. Of one that was done
 * before nothing is said again.
 */
export async function* aside<T>(step: AsyncGenerator<Yielded, T>): AsyncGenerator<Yielded, T> {
  let place: StepEvent | undefined
  return yield* retold(step, said => {
    if (typeof said !== 'string' && said.type === 'step') place ??= said
    const text = spoken(said)
    if (text === undefined) return said
    // What was done before a run was cut off says its text again, and begins no step: it was told as progress then.
    return place && progressOf(place, text, said)
  })
}

/** Who says it, if that is not the run's own servable, is told with it. */
function progressOf({ id, name, index }: StepEvent, text: string, value: Yielded): RunEvent {
  const agent = typeof value === 'string' ? undefined : value.agent
  const said = { type: 'step', id, name, index, status: 'progress', text } as const
  return agent === undefined ? said : { ...said, agent }
}

/** The text of what a body yields, if it is text. */
export function spoken(value: Yielded): string | undefined {
  if (typeof value === 'string') return value
  return value.type === 'text' ? value.text : undefined
}
