import type { ErrorEvent, FinishEvent, RunOptions, RunResult } from '../../agents/contract.ts'
import type { RunNumbers } from '../numbers.ts'
import type { Target } from '../target.ts'

/** A run that has ended and was not a stored run: a turn of an A2A task. Its record, result and last event are stored. */
export interface EndedRun {
  readonly id: string
  readonly target: Pick<Target, 'kind' | 'name'>
  readonly options: Pick<RunOptions, 'sessionId' | 'userId'>
  readonly owner: string | null
  /** The client whose index lists it if there is no owner. Default: the index of all. */
  readonly client?: string | undefined
  /** Absent if the answer is only a message, without a task. */
  readonly taskId?: string | undefined
  readonly transport?: string | undefined
  /** Milliseconds since 1970 at which it began. */
  readonly at: number
  readonly event: FinishEvent | ErrorEvent
  readonly result?: RunResult | undefined
  readonly numbers?: RunNumbers | undefined
}
