/**
 * The threads of an agent whose framework keeps states of its own, such as a compiled graph of LangGraph.
 *
 * @module
 */

import type { ConversationStates } from './states.ts'

/** Opens the threads of an agent. */
export interface GraphThreads {
  open(thread: OpenedThread): GraphThread
}

/** A thread to open. */
export interface OpenedThread {
  readonly sessionId: string
  /** The id of the thread in a checkpointer of the graph's own. */
  readonly ownId: string
  /** The states of the session, for a graph without a checkpointer of its own. */
  readonly states: ConversationStates
}

/** A place in a thread. */
export interface GraphPlace {
  /** The id of a checkpoint. Default: the newest one of the branch that counts. */
  readonly checkpointId?: string | undefined
  /** The graph inside of the graph, as LangGraph names it: `node:task`, joined by `|`. Default: the graph itself. */
  readonly namespace?: string | undefined
}

/** Which states of a thread to list. */
export interface GraphHistoryQuery {
  /** 1 to 1,000. Default: 10. */
  readonly limit?: number | undefined
  /** Only states before this checkpoint. */
  readonly before?: string | undefined
  /** Members that the metadata must have. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  readonly at?: GraphPlace | undefined
}

/** LangGraph's `StateSnapshot`, as it is: its `values` may have messages that are objects of LangChain's classes. */
export interface GraphSnapshot {
  readonly values: unknown
  readonly next: readonly string[]
  readonly tasks: readonly unknown[]
  /** With the `run_id` of the run that made it, if the graph has no checkpointer of its own. An update has that of the run before it. */
  readonly metadata?: unknown
  readonly config: GraphConfig
  readonly createdAt?: string | undefined
  readonly parentConfig?: GraphConfig | undefined
}

/** The configuration of a checkpoint. */
export interface GraphConfig {
  readonly configurable?: {
    readonly thread_id?: string | undefined
    readonly checkpoint_ns?: string | undefined
    readonly checkpoint_id?: string | undefined
    readonly [name: string]: unknown
  }
}

/** The thread of a session. `thread_id` in what it gives is the session's id, unless the graph has a checkpointer of its own. */
export interface GraphThread {
  /** With `subgraphs` the tasks have the states of the graphs inside. A thread that does not exist has a state without values. */
  getState(at?: GraphPlace, options?: { readonly subgraphs?: boolean }): Promise<GraphSnapshot>
  /** The states of all branches, newest first. */
  history(query?: GraphHistoryQuery): Promise<readonly GraphSnapshot[]>
  /**
   * Adds a state with these values, as if the node `asNode` had given them. Returns its configuration. Throws `invalid_input` for an update
   * that the graph does not take.
   */
  updateState(
    values: unknown,
    how?: { readonly at?: GraphPlace | undefined; readonly asNode?: string | undefined },
  ): Promise<GraphConfig>
}
