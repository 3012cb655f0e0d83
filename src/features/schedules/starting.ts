/**
 * Starts the run of a schedule, for its owner and in the background.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import { type Identity, identityOf } from '../../http/platform.ts'
import type { Asker } from '../../http/runs/start-run.ts'
import type { Schedule } from './schedule.ts'

/** The caller of a scheduled run: its owner, without any other request data. */
class OwnerAsks implements Asker {
  readonly owner: string
  readonly identity: Identity
  readonly ip = undefined
  readonly transport = 'schedules'
  readonly isIsolated = false
  readonly signal = undefined

  constructor(owner: string) {
    this.owner = owner
    this.identity = identityOf(owner)
  }

  apiKeys(): undefined {
    return undefined
  }

  credentials(): readonly string[] {
    return []
  }

  readonly secrets = (): readonly string[] => []
}

/** The reason for a scheduled run. */
export interface Tick {
  /** The same key finds the same run. */
  readonly key: string
  /** The time of the tick. Absent for a run that is started by hand. */
  readonly tickAt?: number
}

/**
 * Starts the run, or finds the one with the same key. Returns its id. Rejects if it cannot be started, for example with
 * `too_many_runs`.
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
      // The body leaves the input out: other code with a changed input finds the same run.
      key: { key: `schedule:${name}:${key}`, body: { schedule: name } },
    },
    new OwnerAsks(owner),
  )
  return id
}
