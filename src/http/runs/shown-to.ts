/**
 * What of a run its reader may see.
 *
 * @module
 */

import type { RunRecord } from '../../runs/stored/record.ts'
import type { RequestState } from '../context.ts'

/** A record as the sender of a request may see it. The title is a piece of the input, so who may not read that gets none. */
export function shownTo<R extends Pick<RunRecord, 'title'>>(
  state: RequestState,
  record: R,
  owner: string | null = state.owner,
): R {
  return record.title === undefined || state.mayReadInputOf(owner) ? record : withoutTitle(record)
}

/** A record without its title. */
export function withoutTitle<R extends Pick<RunRecord, 'title'>>({ title: _, ...record }: R): R {
  return record as R
}
