/**
 * Graphs without a checkpointer of their own, whose threads are in our state.
 *
 * @module
 */

import type { ConversationStates } from '../../../agents/states.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { callMethod, fieldsOf } from '../fields.ts'
import { mayBeOpened } from './langgraph-checkpoint.ts'
import { Saver } from './langgraph-saver.ts'
import { messageMaker } from './langgraph-values.ts'

/** A graph of one run. */
export interface OpenedGraph {
  readonly graph: unknown
  /** Whether what it has done is stored. */
  readonly isStored: boolean
  /** Our checkpointer, and where it keeps threads. Undefined if the graph has one of its own, or none. */
  readonly saver?: Saver
  readonly states?: ConversationStates
}

/**
 * The graph with a checkpointer over the states of the run's session, or of the run itself if it is journalled. The graph as it is if it
 * has a checkpointer or wants none, and if nothing is stored of the run. `start` is the checkpoint at which it goes on.
 */
export function opened(graph: unknown, context: RunContext, start: string | undefined): OpenedGraph {
  const { memory, runId, work, sessionId, history } = context
  const { isJournalled, isCut } = work
  const mayBe = mayBeOpened(graph) && (isJournalled || (sessionId !== undefined && history === undefined))
  const states = mayBe ? memory?.states({ first: work.first ?? runId, runId, call: work.prefix }) : undefined
  if (states === undefined) return { graph, isStored: isJournalled }
  return { ...openedOver(graph, states, { start, goesOn: isCut }), states, isStored: true }
}

/** The graph with a checkpointer over these states. */
export function openedOver(
  graph: unknown,
  states: ConversationStates,
  begins: { readonly start?: string | undefined; readonly goesOn?: boolean } = {},
): { readonly graph: unknown; readonly saver: Saver } {
  const saver = new Saver(states, { toMessage: messageMaker(graph), ...begins })
  // A graph with another configuration is a copy. The given one is of all runs.
  const copy = callMethod(graph, 'withConfig', {})
  Object.assign(fieldsOf(copy), { checkpointer: saver })
  return { graph: copy, saver }
}
