/**
 * Starts the turns of tasks in this process: for a message, from the line of queued tasks, and after another process has died.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../../agents/contract.ts'
import { later } from '../../../base/wake.ts'
import { tooManyRuns } from '../../../runs/admission.ts'
import { admitted } from '../../../runs/admit.ts'
import { forgetJournal, putRequest, requestIn } from '../../../runs/stored/journal.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { StoredWork } from '../../../runs/stored/stored-work.ts'
import { Takeover } from '../../../runs/stored/takeover.ts'
import type { Target } from '../../../runs/target.ts'
import { mayPass } from '../../../stores/remote/retrying.ts'
import type { Retention } from '../../../stores/state.ts'
import type { Store, Transaction } from '../../../stores/store.ts'
import type { Skill } from '../cards/skills.ts'
import { type BeginContext, type Begun, openTask, resumeTask, startQueued } from './begin-task.ts'
import { concludeTask, type EndContext, failTask } from './end-task.ts'
import { listTurn } from './listed-turn.ts'
import { LiveTask, type LiveTaskOptions, type TurnRequest, turnRequestOf } from './live-task.ts'
import { logOf } from './task-body.ts'
import type { TaskMessage, TaskSettings } from './task-host.ts'
import { type StoredTask, skillOf, statusNow, TASKS, takesTasks, viewOf } from './task-record.ts'
import type { TaskWatches } from './task-watches.ts'

/** Milliseconds until the next attempt to go on with a task after the store could not be read. */
const GO_ON_RETRY_MS = 1000

/** The text of a task whose process died, or lost its store, while the agent was at work. */
const CUT_OFF = 'The service stopped while the agent was at work. Send the message again, without a task id'

/** What turns need of the service. */
export interface TurnsOptions {
  readonly store: Store
  readonly settings: TaskSettings
  readonly retention: Retention
  /** Whether the state is lost with its process. */
  readonly isVolatile?: boolean
  /** Returns the servable that continues a task. Throws `agent_not_found`, `team_not_found` or `workflow_not_found`. */
  readonly targetOf: (skill: Skill) => Target
  /** Given in a Durable Object, which has one task. */
  readonly upkeep?: object
}

/** The parts of the host that turns need. */
export interface TurnsParts {
  readonly work: StoredWork<StoredTask, LiveTask>
  readonly beginning: BeginContext
  readonly ending: EndContext
  readonly watches: TaskWatches
  /** Is called when the status of a task has changed. */
  readonly onChanged: (id: string) => void
  /** Is called when a turn has ended here. */
  readonly onEnded: (id: string, live: LiveTask) => void
}

/** The turns of one host. */
export class Turns {
  readonly #options: TurnsOptions
  readonly #store: Store
  readonly #parts: TurnsParts
  readonly #takeover: Takeover<StoredTask>

  constructor(options: TurnsOptions, parts: TurnsParts) {
    const { store, settings, targetOf } = options
    this.#options = options
    this.#store = store
    this.#parts = parts
    this.#takeover = new Takeover(parts.work, targetOf, takesTasks(settings))
  }

  /** Lets this worker go on with a task whose worker is gone, or ends it. */
  conclude(tx: Transaction, id: string): void {
    if (this.#takeover.take(tx, id) !== undefined) failTask(tx, id, CUT_OFF, this.#parts.ending)
  }

  /** Begins a message, of a new task or of the one that `find` returns. Returns what runs, or what was stored without a run. */
  begin(message: TaskMessage, find: (tx: Transaction) => StoredTask): Promise<LiveTask | Begun> {
    const { target, taskId } = message
    const { work, beginning } = this.#parts
    return work.begin(taskId, async () => {
      // The view is from before the agent's first event, so a stream that begins there misses nothing.
      const [begun, request, isJournalled = false] = await this.#store.write(tx => {
        const begun =
          target === undefined
            ? resumeTask(tx, find(tx), message, beginning)
            : openTask(tx, message, target, beginning)
        if (begun.isRepeated || !begun.task.isAtWork) return [begun]
        const of = target ?? this.#options.targetOf(skillOf(begun.task))
        const request = turnRequestOf(begun, message, of)
        return [begun, request, this.#putRequest(tx, begun.task.runId ?? '', request, taskId)]
      })
      if (request === undefined) return begun
      return this.#launch(begun, request, { isJournalled })
    })
  }

  /** Stores a new task that waits in the line. */
  async openQueued(message: TaskMessage, target: Target, runId: string): Promise<Begun> {
    return this.#store.write(tx => {
      const begun = openTask(tx, message, target, this.#parts.beginning, runId)
      const kept = { resumes: false, keepsInput: true }
      putRequest(tx, runId, turnRequestOf(begun, message, target), kept, logOf(message.taskId))
      if (requestIn(tx, runId) === undefined) throw tooManyRuns('this message is too large to wait')
      return begun
    })
  }

  /** As `TaskHost.startQueued`. */
  async startQueued(id: string, runId: string): Promise<void> {
    const { settings, targetOf } = this.#options
    const { work, beginning, onChanged } = this.#parts
    await work.look(id)
    const [task, asked] = await this.#store.read(tx => [work.lookUp(tx, id), requestIn(tx, runId)] as const)
    if (task === undefined || asked === undefined) return
    const target = targetOf(skillOf(task))
    const { input, client = partitionOf(task.owner) } = asked
    const options = { ...asked.options, messageId: String(asked.options.metadata?.messageId) }
    const request = { target, input, options, owner: task.owner, client, isBackground: true, mayWait: false }
    const begin = () =>
      work.begin(id, async () => {
        const [begun, isJournalled = false] = await this.#store.write(tx => {
          const begun = startQueued(tx, id, runId, beginning)
          if (begun === undefined) return []
          forgetJournal(tx, runId, { entries: 0 })
          return [begun, this.#putRequest(tx, runId, request, id)]
        })
        return begun && this.#launch(begun, request, { isJournalled })
      })
    const run = { id: runId, target, input, options: { identity: task.owner ?? undefined }, client }
    if (settings.admit === undefined) await begin()
    else await admitted(settings.admit, { ...run, continues: false }, begin, begun => begun !== undefined)
    onChanged(id)
  }

  /** As `TaskHost.endQueued`. */
  async endQueued(id: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void> {
    const { work, ending, onChanged } = this.#parts
    await this.#store.write(tx => {
      const task = work.lookUp(tx, id)
      if (task?.isQueued !== true || task.runId !== runId) return
      if (event.type === 'error') failTask(tx, id, event.error, ending)
      else concludeTask(tx, id, { status: statusNow('canceled') }, ending)
    })
    onChanged(id)
  }

  /** Goes on with a task that was taken over. Never rejects. */
  async goOn(id: string): Promise<void> {
    const { work, beginning } = this.#parts
    try {
      await work.begin(id, async () => {
        if (work.get(id) !== undefined) return
        const taken = await this.#store.read(tx => {
          const taken = this.#takeover.taken(tx, id)
          return taken && { ...taken, view: viewOf(taken.kept, beginning.views.read(tx, id)) }
        })
        if (taken === undefined) return
        const { kept: task, view, request, cut } = taken
        this.#launch({ task, view }, { ...request, mayWait: false }, { isJournalled: true, cut })
      })
    } catch (error) {
      if (!mayPass(error) && (await this.#hasFailed(id))) return
      // No other host finds it while this one is alive.
      await later(GO_ON_RETRY_MS)
      return this.goOn(id)
    }
  }

  /** Fails a task that can never go on. Returns false if that cannot be written now. */
  async #hasFailed(id: string): Promise<boolean> {
    const { ending, onChanged } = this.#parts
    try {
      await this.#store.write(tx => failTask(tx, id, CUT_OFF, ending))
    } catch {
      return false
    }
    onChanged(id)
    return true
  }

  /** Lists the run of a turn, and stores its request if another worker may go on with it. Returns whether it has a journal. */
  #putRequest(tx: Transaction, runId: string, request: TurnRequest, taskId: string): boolean {
    const { isVolatile, settings } = this.#options
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    if (task !== undefined) listTurn(tx, task, request, settings)
    const resumes = !isVolatile && request.target.servable.resume === true
    return putRequest(tx, runId, request, { resumes, keepsInput: false }, logOf(taskId))
  }

  #launch(
    begun: Begun,
    request: TurnRequest,
    journalled: Pick<LiveTaskOptions, 'isJournalled' | 'cut'>,
  ): LiveTask {
    const { id, instance } = begun.task
    const { work, beginning, ending, watches, onChanged, onEnded } = this.#parts
    const { settings, retention, upkeep } = this.#options
    const live = new LiveTask(begun, request, {
      ...journalled,
      store: this.#store,
      ...{ settings, retention, views: beginning.views },
      watch: watches.of(id),
      conclude: (tx, conclusion) => concludeTask(tx, id, conclusion, ending),
      onTask: () => onChanged(id),
      leave: tx => this.#takeover.leave(tx, id, instance),
      retire: () => work.worker.retire(),
    })
    work.add(id, live, {
      ended: live.ended,
      done: live.recorded,
      onEnded: () => {
        live.settle()
        onEnded(id, live)
        // In an object, its index frees the slot first.
        if (upkeep === undefined) void settings.onFree?.()
      },
    })
    return live
  }
}
