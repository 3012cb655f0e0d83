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
import { mapItems } from './map-items.ts'
import type { RunContext, Yielded } from './perform.ts'

/**
 * Runs another servable once; yields its events except the last, and returns its result. A run that goes on gets the recorded
 * result. A servable that waits for someone makes its caller wait. Throws when the servable fails.
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
  const { scope, inbox: _, ...rest } = context
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
      // The reader of the caller closes it here.
      yield { ...event, ...(event.usage && { usage: usageOf(servable, event.usage) }) }
    }
    if (event.type === 'finish') break
    yield withFact(event, 'agent', servable.name)
  }
  const result = fold.result({ runId: context.runId, durationMs: elapsedSince(startedAt) })
  return { ...result, text: before + result.text, usage: usageOf(servable, result.usage) }
}

/** Returns the event with a fact that it does not have itself. */
function withFact(event: RunEvent, fact: 'agent' | 'parentId', value: string): RunEvent {
  return event[fact] === undefined ? withFacts(event, { [fact]: value }) : event
}

/** A copy of the event with these facts. */
export function withFacts(event: RunEvent, facts: EventFacts): RunEvent {
  const copy = { ...event, ...facts }
  const thrown = thrownWith(event)
  return thrown === undefined ? copy : withThrown(copy, thrown)
}

/** The identity of a step in its events. */
export type StepIdentity = Pick<StepEvent, 'name' | 'index'> & { readonly id: string }

/** Wraps `work` in a `step` event for its start and one for its end. The events that `work` yields get the step as `parentId`. */
export async function* asStep<T>(
  identity: StepIdentity,
  work: AsyncGenerator<Yielded, T>,
): AsyncGenerator<RunEvent, T> {
  const startedAt = performance.now()
  const step = { type: 'step', ...identity } as const
  yield { ...step, status: 'started' }
  try {
    let result = await work.next()
    try {
      for (; !result.done; result = await work.next()) {
        const { value } = result
        const event: RunEvent = typeof value === 'string' ? { type: 'text', text: value } : value
        yield isRunEvent(event) && !isTerminal(event) ? withFact(event, 'parentId', identity.id) : event
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
 * Turns the text of a step of {@link asStep} into progress of the step, so that clients see it but it is not part of the answer.
 * A step that completed before the run went on yields nothing again.
 */
export async function* asProgress<T>(step: AsyncGenerator<Yielded, T>): AsyncGenerator<Yielded, T> {
  let begun: StepEvent | undefined
  return yield* mapItems(step, item => {
    if (typeof item !== 'string' && item.type === 'step') begun ??= item
    const text = yieldedText(item)
    if (text === undefined) return item
    // After a run was cut off, completed work repeats its text without a `step` event. The earlier run sent that text as
    // progress.
    return begun && progressOf(begun, text, item)
  })
}

/** Makes the progress event, with `agent` if the text is not the run's own servable's. */
function progressOf({ id, name, index }: StepEvent, text: string, value: Yielded): RunEvent {
  const agent = typeof value === 'string' ? undefined : value.agent
  const event = { type: 'step', id, name, index, status: 'progress', text } as const
  return agent === undefined ? event : { ...event, agent }
}

/** The text of what a body yields, if it is text. */
export function yieldedText(value: Yielded): string | undefined {
  if (typeof value === 'string') return value
  return value.type === 'text' ? value.text : undefined
}
