import type { ErrorEvent, FinishEvent, RunOptions, RunResult } from '../../agents/contract.ts'
import type { RunNumbers } from '../numbers.ts'
import type { Target } from '../target.ts'

/** A run that has ended, and was not a stored run: a turn of an A2A task. Its record and result are kept, and of its events the last. */
export interface EndedRun {
  readonly id: string
  readonly target: Pick<Target, 'kind' | 'name'>
  readonly options: Pick<RunOptions, 'sessionId' | 'userId'>
  readonly owner: string | null
  /** Whose index lists it, where there is no owner. Default: that of all. */
  readonly client?: string | undefined
  /** Absent for an answer that is a bare message: then there is no task. */
  readonly taskId?: string | undefined
  readonly transport?: string | undefined
  /** Milliseconds since 1970 at which it began. */
  readonly at: number
  readonly event: FinishEvent | ErrorEvent
  readonly result?: RunResult | undefined
  readonly numbers?: RunNumbers | undefined
}
