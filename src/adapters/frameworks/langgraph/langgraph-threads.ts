/**
 * Graphs without a checkpointer of their own, whose threads are in our state.
 *
 * @module
 */

import type {
  GraphConfig,
  GraphHistoryQuery,
  GraphPlace,
  GraphSnapshot,
  GraphThread,
  GraphThreads,
  OpenedThread,
} from '../../../agents/graph.ts'
import type { ConversationStates } from '../../../agents/states.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { messageOf, ServableError } from '../../../base/errors.ts'
import { callMethod, fieldsOf, itemsOf } from '../fields.ts'
import { mayBeOpened, mayKeepThreads } from './langgraph-checkpoint.ts'
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

/** The threads of a graph, between its runs. Undefined if it keeps none. */
export function threadsOf(graph: unknown): GraphThreads | undefined {
  return mayKeepThreads(graph) ? { open: thread => new Thread(graph, thread) } : undefined
}

const HISTORY = 10
const MAX_HISTORY = 1000

class Thread implements GraphThread {
  readonly #graph: unknown
  readonly #id: string

  constructor(graph: unknown, { sessionId, ownId, states }: OpenedThread) {
    const isOurs = mayBeOpened(graph)
    this.#graph = isOurs ? openedOver(graph, states).graph : graph
    this.#id = isOurs ? sessionId : ownId
  }

  async getState(at?: GraphPlace, options?: { readonly subgraphs?: boolean }): Promise<GraphSnapshot> {
    return callMethod(this.#graph, 'getState', this.#configOf(at), options) as Promise<GraphSnapshot>
  }

  async history({ limit = HISTORY, before, filter, at }: GraphHistoryQuery = {}): Promise<GraphSnapshot[]> {
    const most = Math.max(1, Math.min(Math.trunc(limit) || HISTORY, MAX_HISTORY))
    const query = {
      ...{ limit: most, filter },
      ...(before !== undefined && { before: this.#configOf({ ...at, checkpointId: before }) }),
    }
    const found: GraphSnapshot[] = []
    const states = itemsOf(callMethod(this.#graph, 'getStateHistory', this.#configOf(at), query))
    for await (const state of states) found.push(state as GraphSnapshot)
    return found
  }

  async updateState(
    values: unknown,
    { at, asNode }: Parameters<GraphThread['updateState']>[1] = {},
  ): Promise<GraphConfig> {
    try {
      const config = await callMethod(this.#graph, 'updateState', this.#configOf(at), values, asNode)
      return config as GraphConfig
    } catch (cause) {
      if (fieldsOf(cause).name !== 'InvalidUpdateError') throw cause
      throw new ServableError('invalid_input', messageOf(cause), { cause })
    }
  }

  #configOf({ checkpointId, namespace }: GraphPlace = {}): object {
    return {
      configurable: {
        thread_id: this.#id,
        ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
        ...(namespace !== undefined && { checkpoint_ns: namespace }),
      },
    }
  }
}
