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
  /** Whether it is the state before the input of a run. */
  readonly isBeforeInput: boolean
  /** The checkpoint before it. */
  readonly parentId: string | undefined
}

/** States that are read at once, and characters of JSON after which no more are. */
const PAGE = 10
const MAX_LENGTH = 16 * 1024 * 1024

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
    return JSON.parse(this.#json(await this.#snapshot(checkpointId)))
  }

  async #snapshot(checkpointId: string | undefined): Promise<GraphSnapshot> {
    const snapshot = await this.#thread.getState({ checkpointId }, { subgraphs: false })
    if (checkpointId === undefined || snapshot.createdAt !== undefined) return snapshot
    throw new ServableError('session_not_found', `The thread has no checkpoint ${checkpointId.slice(0, 100)}`)
  }

  /** States, newest first: at most so many, and as many as fit into one answer. Older ones come with `before`. */
  async history(limit: number, before: string | undefined, filter: Fields): Promise<readonly object[]> {
    const found: object[] = []
    let [length, from] = [0, before]
    while (found.length < limit && length < MAX_LENGTH) {
      const most = Math.min(PAGE, limit - found.length)
      const page = await this.#thread.history({ limit: most, before: from, filter })
      for (const each of page) {
        const text = this.#json(each)
        length += text.length
        found.push(JSON.parse(text))
      }
      from = idIn(page.at(-1)?.config)
      if (page.length < most || from === undefined) break
    }
    return found
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

  #json({ values, next, tasks, metadata, config, createdAt, parentConfig }: GraphSnapshot): string {
    const [checkpoint, parent_checkpoint] = [this.#nameIn(config), this.#nameIn(parentConfig)]
    const shown = tasks.map(task => ({
      ...Object(task),
      checkpoint: null,
      state: null,
      error: errorIn(task),
    }))
    const state = { values: values ?? {}, next, tasks: shown, metadata: metadata ?? {} }
    return flatJson({ ...state, created_at: createdAt ?? null, checkpoint, parent_checkpoint })
  }

  #nameIn(config: unknown): object | null {
    const checkpoint_id = idIn(config)
    const name = { thread_id: this.#id, checkpoint_ns: '', checkpoint_id, checkpoint_map: null }
    return checkpoint_id === undefined ? null : name
  }
}

/** The id of the checkpoint in a configuration. */
function idIn(config: unknown): string | undefined {
  const { configurable } = Object(config) as { readonly configurable?: unknown }
  const { checkpoint_id: id } = Object(configurable) as Fields
  return typeof id === 'string' ? id : undefined
}

function stateOf({ values, tasks, metadata, parentConfig }: GraphSnapshot): GraphState {
  return {
    values: flatJson(values ?? {}),
    interrupts: interruptsIn(tasks),
    isBeforeInput: (Object(metadata) as Fields).source === 'input',
    parentId: idIn(parentConfig),
  }
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
