/**
 * A thread with its checkpoints. Each message of the user is one, and each answer is one; so they are the boundaries of the session's
 * turns, and forks are its branches.
 *
 * @module
 */

import type { Caller, RunEvent, RunRecord, SessionOf, TreeTurn, TurnTree } from '../../core-entry.ts'
import { isServableError } from '../encoders/index.ts'
import { checkpointIdOf } from './ids.ts'
import { type Interrupt, interruptsOf } from './interrupts.ts'
import { type Before, humanMessage, type ThreadMessage } from './messages.ts'
import { openCallsIn, RunMessages, withEdits } from './run-messages.ts'

/** A checkpoint: before the first message, after a message of the user, or after an answer. */
export interface Checkpoint {
  readonly id: string
  readonly kind: 'root' | 'asked' | 'answered'
  /** The turn of its message or answer. Undefined at the root. */
  readonly turn: TreeTurn | undefined
  readonly parent: Checkpoint | undefined
  readonly atMs: number
  readonly step: number
}

/** The newest turns of a branch of which the events are read. Of older ones there is the text. */
const MAX_READ = 200

/** Logs that are read at once. */
const AT_ONCE = 8

/** The id of the message of a turn. */
export function messageIdOf({ messageId, runId }: Pick<TreeTurn, 'messageId' | 'runId'>): string {
  return messageId ?? `${runId}:user`
}

/** The checkpoints of a thread. */
export class ThreadTree {
  readonly #caller: Caller
  readonly #threadId: string
  readonly turns: readonly TreeTurn[]
  readonly #byId = new Map<string, Checkpoint>()
  readonly #asked = new Map<string, Checkpoint>()
  readonly #answered = new Map<string, Checkpoint>()
  readonly #messages = new Map<Checkpoint, readonly ThreadMessage[]>()
  readonly #events = new Map<string, Promise<readonly RunEvent[] | undefined>>()
  readonly #records = new Map<string, Promise<RunRecord | undefined>>()
  readonly head: Checkpoint | undefined

  constructor(caller: Caller, threadId: string, { turns, head }: TurnTree) {
    this.#caller = caller
    this.#threadId = threadId
    this.turns = turns
    const [first] = turns
    if (first === undefined) return
    const atMs = first.at - 1
    const root = this.#add({
      id: checkpointIdOf(atMs, 0xfff, threadId),
      kind: 'root',
      turn: undefined,
      parent: undefined,
      atMs,
      step: -1,
    })
    const shared = new Map<string, Checkpoint>()
    for (const turn of turns) this.#place(turn, root, shared)
    this.head = head === undefined ? root : this.lastOf(head)
  }

  static async read(caller: Caller, session: SessionOf): Promise<ThreadTree> {
    return new ThreadTree(caller, session.id, await caller.sessions.tree(session))
  }

  #place(turn: TreeTurn, root: Checkpoint, shared: Map<string, Checkpoint>): void {
    const before = turn.after === undefined ? root : (this.lastOf(turn.after) ?? root)
    const goesOn = turn.continuedFrom !== undefined && turn.continuedFrom === turn.after
    // An answer that is made again comes after the same message.
    const key = JSON.stringify([before.id, messageIdOf(turn), turn.input])
    const asked = goesOn ? before : (shared.get(key) ?? this.#next(before, 'asked', turn, turn.at))
    shared.set(key, asked)
    this.#asked.set(turn.runId, asked)
    if (turn.status === 'running') return
    this.#answered.set(turn.runId, this.#next(asked, 'answered', turn, turn.endedAt ?? turn.at))
  }

  #next(parent: Checkpoint, kind: 'asked' | 'answered', turn: TreeTurn, at: number): Checkpoint {
    // A child comes later than its parent, as clients order them by their ids.
    const atMs = Math.max(at, parent.atMs + 1)
    const id = checkpointIdOf(atMs, kind === 'asked' ? 0 : 1, turn.runId)
    return this.#add({ id, kind, turn, parent, atMs, step: parent.step + 1 })
  }

  #add(checkpoint: Checkpoint): Checkpoint {
    this.#byId.set(checkpoint.id, checkpoint)
    return checkpoint
  }

  get(id: string): Checkpoint | undefined {
    return this.#byId.get(id.toLowerCase())
  }

  /** The last checkpoint of the turn of a run. */
  lastOf(runId: string): Checkpoint | undefined {
    return this.#answered.get(runId) ?? this.#asked.get(runId)
  }

  /** The checkpoint with the message that a run answers. */
  askedBy(runId: string): Checkpoint | undefined {
    return this.#asked.get(runId)
  }

  /** All checkpoints: that of the branch that counts, then the others, newest first. */
  list(): readonly Checkpoint[] {
    const others = [...this.#byId.values()].filter(each => each !== this.head)
    others.sort((a, b) => (a.id < b.id ? 1 : -1))
    return this.head === undefined ? others : [this.head, ...others]
  }

  /** The messages until a checkpoint. Without `readsEvents` those of answers are their texts. */
  async messagesAt(
    checkpoint: Checkpoint | undefined,
    readsEvents = true,
  ): Promise<readonly ThreadMessage[]> {
    const path: Checkpoint[] = []
    let known = checkpoint
    for (; known !== undefined && !this.#messages.has(known); known = known.parent) path.push(known)
    path.reverse()
    if (readsEvents) await this.#read(path)
    let messages = (known && this.#messages.get(known)) ?? []
    for (const each of path) {
      messages = await this.#after(messages, each)
      if (readsEvents) this.#messages.set(each, messages)
    }
    return messages
  }

  async #after(
    before: readonly ThreadMessage[],
    { kind, turn }: Checkpoint,
  ): Promise<readonly ThreadMessage[]> {
    if (turn === undefined) return before
    if (kind === 'asked') return [...before, humanMessage(messageIdOf(turn), turn.input)]
    const made = new RunMessages(turn.runId, openCallsIn(before))
    const events = (await this.#events.get(turn.runId)) ?? textOf(turn)
    for (const event of events) made.add(event)
    if (events.length > 0) made.add({ type: 'finish', finishReason: 'stop' })
    return [...withEdits(before, made.edited), ...made.messages]
  }

  /** Reads the logs of the newest turns of a path. */
  async #read(path: readonly Checkpoint[]): Promise<void> {
    const runs = path.flatMap(({ kind, turn }) => (kind === 'answered' && turn ? [turn.runId] : []))
    const wanted = runs.slice(-MAX_READ).filter(id => !this.#events.has(id))
    while (wanted.length > 0) {
      const some = wanted.splice(-AT_ONCE)
      for (const id of some) this.#events.set(id, this.#log(id))
      await Promise.all(some.map(id => this.#events.get(id)))
    }
  }

  /** The events of an ended run. Undefined if they are not stored any more. */
  async #log(runId: string): Promise<readonly RunEvent[] | undefined> {
    const all: RunEvent[] = []
    for (let after = 0; ; ) {
      const page = await this.#caller.runs.log(runId, { after }).catch(noRun)
      if (page === undefined) return undefined
      all.push(...page.events.map(({ event }) => event as RunEvent))
      if (page.ended || page.events.length === 0) return all
      after = page.next
    }
  }

  /** The record of a run. Undefined if it is not stored any more. */
  record(runId: string): Promise<RunRecord | undefined> {
    let record = this.#records.get(runId)
    if (record === undefined) {
      record = this.#caller.runs.get(runId).catch(noRun)
      this.#records.set(runId, record)
    }
    return record
  }

  /** What the thread waits for at a checkpoint. Only what has not been answered yet. */
  async interruptsAt(checkpoint: Checkpoint | undefined): Promise<readonly Interrupt[]> {
    const { turn, kind } = checkpoint ?? {}
    if (kind !== 'answered' || turn?.finishReason !== 'input_required') return []
    const record = await this.record(turn.runId)
    return record?.status === 'input_required' ? interruptsOf(turn.runId, record.requests) : []
  }

  /** What was before a run that has begun. */
  async before(runId: string): Promise<Before> {
    const asked = this.#asked.get(runId)
    const turn = this.turns.find(each => each.runId === runId)
    const own = turn !== undefined && asked?.kind === 'asked' ? 1 : 0
    return { messages: await this.messagesAt(asked ?? this.head), own }
  }

  async stateAt(
    checkpoint: Checkpoint,
    { graphId, id: assistantId }: { graphId: string; id: string },
  ): Promise<object> {
    const { kind, turn, parent, atMs, step } = checkpoint
    const interrupts = checkpoint === this.head ? await this.interruptsAt(checkpoint) : []
    const error =
      kind === 'answered' && turn?.error !== undefined ? errorText(turn, await this.record(turn.runId)) : null
    const isOpen = kind === 'asked' || interrupts.length > 0 || error !== null
    const next = kind === 'root' ? ['__start__'] : isOpen ? ['agent'] : []
    const source = kind === 'root' ? 'input' : parent?.turn && this.#isFork(checkpoint) ? 'fork' : 'loop'
    return {
      values: { messages: await this.messagesAt(checkpoint) },
      next,
      tasks: next.map(name => ({
        ...{ id: turn?.runId ?? this.#threadId, name, path: ['__pregel_pull', name], error, interrupts },
        ...{ checkpoint: null, state: null, result: null },
      })),
      metadata: {
        ...{
          source,
          step,
          parents: {},
          thread_id: this.#threadId,
          graph_id: graphId,
          assistant_id: assistantId,
        },
        ...(turn && { run_id: turn.runId }),
      },
      created_at: new Date(atMs).toISOString(),
      checkpoint: this.nameOf(checkpoint),
      parent_checkpoint: parent === undefined ? null : this.nameOf(parent),
    }
  }

  #isFork(checkpoint: Checkpoint): boolean {
    for (const each of this.#byId.values()) {
      if (each.parent === checkpoint.parent && each !== checkpoint && each.atMs < checkpoint.atMs) return true
    }
    return false
  }

  nameOf({ id }: Checkpoint): object {
    return { thread_id: this.#threadId, checkpoint_ns: '', checkpoint_id: id, checkpoint_map: null }
  }
}

/** The state of a thread that never ran. */
export const NO_STATE: object = {
  ...{
    values: {},
    next: [],
    tasks: [],
    created_at: null,
    checkpoint: null,
    parent_checkpoint: null,
    metadata: {},
  },
}

/** Of a run whose events are not stored, the session has the text. */
function textOf({ text }: TreeTurn): readonly RunEvent[] {
  return text ? [{ type: 'text', text }] : []
}

function errorText({ error }: TreeTurn, record: RunRecord | undefined): string {
  const { code = error ?? 'agent_failed', message = code } = record?.error ?? {}
  return JSON.stringify({ error: code, message })
}

function noRun(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}
