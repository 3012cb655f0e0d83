import { ignoring } from '../../base/errors.ts'
import type { RunHost, Viewer } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'

/** Most runs that continue each other in one call. */
const MAX_CHAIN = 100

/** The newest of the runs that continue a run. It is the run itself if none has begun. */
export async function lastOf(
  host: Pick<RunHost, 'get'>,
  first: RunRecord,
  viewer: Viewer,
): Promise<RunRecord> {
  let record = first
  for (let count = 0; record.continuedBy && count < MAX_CHAIN; count++) {
    const next = await host.get(record.continuedBy, viewer).catch(ignoring('run_not_found'))
    if (next === undefined) break
    record = next
  }
  return record
}
