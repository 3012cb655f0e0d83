/**
 * The text by which a run is found in lists.
 *
 * @module
 */

import type { RunInput, RunResult } from '../../agents/contract.ts'
import type { Reader } from '../../stores/store.ts'
import { waitingIn } from '../waiting/waiting.ts'
import type { HostSettings } from './host.ts'
import { requestIn } from './journal.ts'
import { RESULTS, type RunSummary } from './record.ts'
import { beginningOf, SEARCHED_LENGTH, wholeBeginning } from './title.ts'

/** What is known of a run already. The rest is read. */
interface KnownOfRun {
  readonly input?: RunInput | undefined
  /** Null if it has none. */
  readonly result?: RunResult | null | undefined
}

/**
 * The text of a run: the beginning of its input, if that is kept, the beginning of its output, and its error. Undefined if the store has no
 * texts of runs.
 */
export function textOfRun(
  tx: Reader,
  record: RunSummary,
  { hasTexts = true }: Pick<HostSettings, 'hasTexts'>,
  { input, result = tx.get<RunResult>(RESULTS, record.id)?.value ?? null }: KnownOfRun = {},
): string | undefined {
  if (!hasTexts) return undefined
  const { id, title, error } = record
  // A run has a title where its input has text and is kept.
  const said =
    title === undefined ? undefined : (input ?? requestIn(tx, id)?.input ?? waitingIn(tx, id)?.input)
  return [
    error?.message,
    said && beginningOf(said),
    result?.text && wholeBeginning(result.text, SEARCHED_LENGTH),
  ]
    .filter(text => text !== undefined && text !== '')
    .join('\n')
}
