/**
 * The states of agents that are graphs of LangGraph: they are passed on as they are, and messages in their flat form.
 *
 * @module
 */

import {
  type Caller,
  type GraphSnapshot,
  type GraphThread,
  ServableError,
  type SessionOf,
} from '../../core-entry.ts'
import type { Fields } from './asked.ts'
import type { Interrupt } from './interrupts.ts'
import type { Checkpoint, ThreadTree } from './thread-tree.ts'

/** The states of a thread, if its agent is such a graph. */
export function graphOf(caller: Caller, session: SessionOf): GraphStates | undefined {
  const thread = caller.sessions.graph(session)
  return thread && new GraphStates(thread, session.id)
}

/** What a graph has at a checkpoint. */
export interface GraphState {
  /** JSON. */
  readonly values: string
  readonly interrupts: readonly Interrupt[]
}

/** The states of one thread. */
export class GraphStates {
  readonly #thread: GraphThread
  readonly #id: string

  constructor(thread: GraphThread, id: string) {
    this.#thread = thread
    this.#id = id
  }

  /** The newest state, or that of a checkpoint. Throws `session_not_found`. */
  async stateAt(checkpointId?: string): Promise<object> {
    return this.#shown(await this.#snapshot(checkpointId))
  }

  async #snapshot(checkpointId: string | undefined): Promise<GraphSnapshot> {
    const snapshot = await this.#thread.getState({ checkpointId }, { subgraphs: false })
    if (checkpointId === undefined || snapshot.createdAt !== undefined) return snapshot
    throw new ServableError('session_not_found', `The thread has no checkpoint ${checkpointId.slice(0, 100)}`)
  }

  async history(limit: number, before: string | undefined, filter: Fields): Promise<readonly object[]> {
    if (limit === 0) return []
    return (await this.#thread.history({ limit, before, filter })).map(each => this.#shown(each))
  }

  /** The name of the checkpoint after an update. */
  async update(
    values: unknown,
    checkpointId: string | undefined,
    asNode: string | undefined,
  ): Promise<object | null> {
    return this.#nameIn(await this.#thread.updateState(values, { at: { checkpointId }, asNode }))
  }

  /** What the graph had at a checkpoint. */
  async at(checkpointId: string): Promise<GraphState> {
    return stateOf(await this.#snapshot(checkpointId))
  }

  /** What a run has left; without its id, what the thread has. */
  async end(runId?: string): Promise<GraphState> {
    const [ofRun] =
      runId === undefined ? [] : await this.#thread.history({ limit: 1, filter: { run_id: runId } })
    return stateOf(ofRun ?? (await this.#thread.getState()))
  }

  /** The boundary of a turn that a checkpoint is, as its metadata names the run. */
  async placeIn(tree: ThreadTree, checkpointId: string): Promise<Checkpoint | undefined> {
    const { metadata, next, tasks } = await this.#snapshot(checkpointId)
    const { run_id: runId, source } = Object(metadata) as Readonly<Record<string, unknown>>
    const isOver = next.length === 0 || interruptsIn(tasks).length > 0
    if (isOver) return tree.lastOf(String(runId))
    const asked = tree.askedBy(String(runId))
    return source === 'input' ? asked?.parent : asked
  }

  #shown({ values, next, tasks, metadata, config, createdAt, parentConfig }: GraphSnapshot): object {
    const [checkpoint, parent_checkpoint] = [this.#nameIn(config), this.#nameIn(parentConfig)]
    const shown = tasks.map(task => ({
      ...Object(task),
      checkpoint: null,
      state: null,
      error: errorIn(task),
    }))
    const state = {
      values: values ?? {},
      next,
      tasks: shown,
      metadata: metadata ?? {},
      created_at: createdAt,
    }
    return JSON.parse(flatJson({ ...state, checkpoint, parent_checkpoint }))
  }

  #nameIn(config: unknown): object | null {
    const { configurable } = Object(config) as { readonly configurable?: unknown }
    const { checkpoint_ns = '', checkpoint_id } = Object(configurable) as Readonly<Record<string, unknown>>
    if (typeof checkpoint_id !== 'string') return null
    return { thread_id: this.#id, checkpoint_ns, checkpoint_id, checkpoint_map: null }
  }
}

function stateOf({ values, tasks }: GraphSnapshot): GraphState {
  return { values: flatJson(values ?? {}), interrupts: interruptsIn(tasks) }
}

function interruptsIn(tasks: readonly unknown[]): readonly Interrupt[] {
  return tasks.flatMap(
    task => (Object(task) as { readonly interrupts?: readonly Interrupt[] }).interrupts ?? [],
  )
}

/** Errors of a graph's own are not for clients. */
function errorIn(task: unknown): string | null {
  return Object(task).error === undefined
    ? null
    : JSON.stringify({ error: 'agent_failed', message: 'The node failed' })
}

/** JSON in which messages that are objects of LangChain have their flat form. */
function flatJson(value: unknown): string {
  return JSON.stringify(value, function (this: Fields, key, given) {
    const own = this[key]
    const { toDict } = Object(own) as { readonly toDict?: unknown }
    if (typeof toDict !== 'function') return given
    const { type, data } = toDict.call(own) as { readonly type: string; readonly data: object }
    return { ...data, type }
  })
}
