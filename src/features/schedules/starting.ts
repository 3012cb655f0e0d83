/**
 * Starts the run of a schedule, for its owner and in the background.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import type { Identity } from '../../http/platform.ts'
import type { Asker } from '../../http/runs/start-run.ts'
import type { Schedule } from './schedule.ts'

/** The owner of a schedule asks for its runs. Nothing else is known of who asks. */
class OwnerAsks implements Asker {
  readonly owner: string
  readonly identity: Identity
  readonly ip = undefined
  readonly transport = 'schedules'
  readonly isIsolated = false
  readonly signal = undefined

  constructor(owner: string) {
    this.owner = owner
    this.identity = { id: owner }
  }

  apiKeys(): undefined {
    return undefined
  }

  credentials(): readonly string[] {
    return []
  }

  readonly secrets = (): readonly string[] => []
}

/** For what a run of a schedule is started. */
export interface Tick {
  /** The same key finds the same run. */
  readonly key: string
  /** When the schedule was due. Absent for a run that is started by hand. */
  readonly tickAt?: number
}

/**
 * Starts it, or finds the one that was started with the same key. Gives its id. Rejects with what keeps it from being started, such
 * as `too_many_runs`.
 */
export async function startScheduled(
  core: Pick<Core, 'catalog' | 'start'>,
  { name, target, input, owner, sessionId }: Schedule,
  { key, tickAt }: Tick,
): Promise<string> {
  const { id } = await core.start(
    {
      ...{ target: core.catalog.resolve(target.kind, target.name), input, sessionId },
      isBackground: true,
      metadata: { schedule: { name, ...(tickAt !== undefined && { tick: new Date(tickAt).toISOString() }) } },
      // Another version of the code may have another input: it is the same run.
      key: { key: `schedule:${name}:${key}`, body: { schedule: name } },
    },
    new OwnerAsks(owner),
  )
  return id
}
