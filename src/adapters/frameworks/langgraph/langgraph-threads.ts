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
import { callMethod, fieldsOf, hasMethods, itemsOf } from '../fields.ts'
import { keepsThreads, mayBeOpened, mayKeepThreads } from './langgraph-checkpoint.ts'
import { HeldSaver } from './langgraph-held.ts'
import { Saver } from './langgraph-saver.ts'
import { StoredCheckpoints } from './langgraph-told.ts'
import { messageMaker } from './langgraph-values.ts'

/** A graph of one run. */
export interface OpenedGraph {
  readonly graph: unknown
  /** When checkpoints are written. Undefined: as the graph does it by itself. */
  readonly durability?: 'sync' | 'exit' | undefined
  /** The checkpoints that its run tells of; undefined if it tells of none. */
  readonly told?: StoredCheckpoints | undefined
  /** Called with whether the run waits, when the graph has stopped. Returns the checkpoint at which it did, if it is in our state. */
  stopped(waits: boolean): Promise<string | undefined>
}

/**
 * The graph with a checkpointer over our state, unless it has one, or wants none: over the states of the run's session, or of the run
 * itself if it is journalled. Of other runs the last checkpoint is stored if they wait. `start` is the checkpoint at which it goes on.
 */
export function opened(graph: unknown, context: RunContext, start: string | undefined): OpenedGraph {
  const own = openedBy(graph, context, start)
  const { checkpointer } = fieldsOf(own.graph)
  if (context.metadata?.checkpoints !== true || !keepsThreads(own.graph) || !hasMethods(graph, 'withConfig'))
    return own
  const told = new StoredCheckpoints()
  return { ...own, graph: withSaver(own.graph, told.of(Object(checkpointer))), told }
}

function openedBy(graph: unknown, context: RunContext, start: string | undefined): OpenedGraph {
  const { memory, runId, work, sessionId, history } = context
  const states = mayBeOpened(graph)
    ? memory?.states?.({ first: work.first ?? runId, runId, call: work.prefix })
    : undefined
  if (states === undefined) {
    // What a node has done is stored before the next one begins, so that it is not done again.
    const durability = work.isJournalled ? ('sync' as const) : undefined
    return { graph, durability, stopped: async () => undefined }
  }
  const isOfSession = sessionId !== undefined && history === undefined
  const saver = saverOf(graph, states, { start, goesOn: work.isCut })
  return work.isJournalled || isOfSession || start !== undefined
    ? kept(graph, saver, states)
    : held(graph, saver, work)
}

function kept(graph: unknown, saver: Saver, states: ConversationStates): OpenedGraph {
  return {
    graph: withSaver(graph, saver),
    durability: 'sync',
    async stopped(waits) {
      if (!waits) await states.release()
      return saver.lastIn('')
    },
  }
}

function held(graph: unknown, saver: Saver, work: RunContext['work']): OpenedGraph {
  const own = new HeldSaver()
  return {
    graph: withSaver(graph, own),
    durability: 'exit',
    async stopped(waits) {
      if (!waits) return undefined
      work.checkKept()
      await own.keep(saver)
      return saver.lastIn('')
    },
  }
}

function saverOf(
  graph: unknown,
  states: ConversationStates,
  begins: { readonly start?: string | undefined; readonly goesOn?: boolean } = {},
): Saver {
  return new Saver(states, { toMessage: messageMaker(graph), ...begins })
}

/** A graph with another configuration is a copy. The given one is of all runs. */
function withSaver(graph: unknown, checkpointer: object): unknown {
  const copy = callMethod(graph, 'withConfig', {})
  return Object.assign(fieldsOf(copy), { checkpointer })
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
    this.#graph = isOurs ? withSaver(graph, saverOf(graph, states)) : graph
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
