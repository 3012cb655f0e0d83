/**
 * The messages before a run asked, for the person who decides.
 *
 * @module
 */

import type { HistoryMessage, InputRequest } from '../../agents/contract.ts'
import { ignoring } from '../../http/runs/ignoring.ts'
import { MAX_TEXT, toKeptInput } from '../../runs/sessions/turn-messages.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { AskingRun } from '../../runs/waiting/asking.ts'
import type { WaitingRequest } from './inbox.ts'

/** The requests of a run or task, with the messages before them. */
export interface ApprovalDetail extends Omit<WaitingRequest, 'request'> {
  /** The open requests that the reader may decide. */
  readonly requests: readonly InputRequest[]
  /** The user's and the agent's messages, oldest first, at most 100. Large files appear by name only. */
  readonly messages: readonly HistoryMessage[]
}

/** Most runs of a chain of continued runs. The first run has the user's input. */
const MAX_CHAIN = 99

/** The messages of a run, and of the runs that it continues. */
export async function messagesOf(host: RunHost, { id, owner }: AskingRun): Promise<HistoryMessage[]> {
  const { input } = await host.asked(id, owner)
  const messages: HistoryMessage[] = []
  let record: RunRecord | undefined = await host.get(id, owner)
  for (let count = 0; record !== undefined && count < MAX_CHAIN; count++) {
    const content = record.result?.text.slice(-MAX_TEXT)
    if (content) messages.unshift({ role: 'assistant', content })
    const { continuedFrom }: RunRecord = record
    // An earlier run may be deleted.
    record = continuedFrom ? await host.get(continuedFrom, owner).catch(ignoring('run_not_found')) : undefined
  }
  return [{ role: 'user', content: toKeptInput(input) }, ...messages]
}
