/**
 * What was said before a run asked: what whoever decides reads.
 *
 * @module
 */

import type { HistoryMessage, InputRequest } from '../../agents/contract.ts'
import { ignoring } from '../../http/runs/ignoring.ts'
import { MAX_TEXT, toKeptInput } from '../../runs/sessions/told-turn.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { AskingRun } from '../../runs/waiting/asking.ts'
import type { Waiting } from './inbox.ts'

/** What a run or task asks, with what was said before. */
export interface ApprovalDetail extends Omit<Waiting, 'request'> {
  /** Those that are open, and that the reader may decide. */
  readonly requests: readonly InputRequest[]
  /** The user's words and the agent's, oldest first, 100 at most. Large files are named. */
  readonly messages: readonly HistoryMessage[]
}

/** Runs that go on from each other. The first has the user's words. */
const MAX_CHAIN = 99

/** What was said in a run, and in those that it goes on from. */
export async function saidBy(host: RunHost, { id, owner }: AskingRun): Promise<HistoryMessage[]> {
  const { input } = await host.asked(id, owner)
  const said: HistoryMessage[] = []
  let record: RunRecord | undefined = await host.get(id, owner)
  for (let count = 0; record !== undefined && count < MAX_CHAIN; count++) {
    const content = record.result?.text.slice(-MAX_TEXT)
    if (content) said.unshift({ role: 'assistant', content })
    const { continuedFrom }: RunRecord = record
    // One may be deleted by now.
    record = continuedFrom ? await host.get(continuedFrom, owner).catch(ignoring('run_not_found')) : undefined
  }
  return [{ role: 'user', content: toKeptInput(input) }, ...said]
}
