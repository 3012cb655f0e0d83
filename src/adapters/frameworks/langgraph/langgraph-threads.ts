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

/** A graph of one run, with its checkpointer. */
export interface OpenedGraph {
  readonly graph: unknown
  readonly saver: Saver
  readonly states: ConversationStates
}

/**
 * The graph with a checkpointer over the states of the run's session, or of the run itself if it is journalled. Undefined for a graph
 * that has a checkpointer or wants none, and for a run of which nothing is stored. `start` is the checkpoint at which it goes on.
 */
export function opened(
  graph: unknown,
  context: RunContext,
  start: string | undefined,
): OpenedGraph | undefined {
  const { memory, runId, work, sessionId, history } = context
  const isStored = work.isJournalled || (sessionId !== undefined && history === undefined)
  if (!mayBeOpened(graph) || !isStored) return undefined
  const states = memory?.states({ first: work.first ?? runId, runId, call: work.prefix })
  return states && { ...openedOver(graph, states, { start, goesOn: work.isCut }), states }
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
