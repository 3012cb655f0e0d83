/**
 * What was said before a run asked: the turns of its session, and the messages of the run and of those that it continues.
 *
 * @module
 */

import type { HistoryMessage } from '../../agents/contract.ts'
import type { SessionStorage } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import { ignoring } from '../../base/errors.ts'
import { MAX_TEXT, toKeptInput } from '../../runs/sessions/turn-messages.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { AskingRun } from '../../runs/waiting/asking.ts'

/** Most messages. */
const MAX_MESSAGES = 100

/** Most runs of a chain of continued runs. The first run has the user's input. */
const MAX_CHAIN = MAX_MESSAGES - 1

/** The messages, oldest first. The earliest turns of a long session are left out. */
export async function saidBefore(
  host: RunHost,
  sessions: Pick<SessionStorage, 'turns'> | undefined,
  run: AskingRun,
): Promise<HistoryMessage[]> {
  const { id, owner } = run
  // What has expired keeps no input for its answer.
  const asked = await host.asked(id, owner).catch(ignoring('input_not_kept'))
  const own: HistoryMessage[] = []
  const chain = new Set<string>()
  let record: RunRecord | undefined = await host.get(id, owner)
  for (let count = 0; record !== undefined && count < MAX_CHAIN; count++) {
    chain.add(record.id)
    own.unshift(...answerOf(record.result?.text))
    const { continuedFrom }: RunRecord = record
    // An earlier run may be deleted.
    record = continuedFrom ? await host.get(continuedFrom, owner).catch(ignoring('run_not_found')) : undefined
  }
  if (asked !== undefined) own.unshift({ role: 'user', content: toKeptInput(asked.input) })
  const room = MAX_MESSAGES - own.length
  const earlier = room > 0 ? (await turnsBefore(sessions, run, chain)).flatMap(messagesOf).slice(-room) : []
  return [...earlier, ...own]
}

/** The turns of the session before these runs. */
async function turnsBefore(
  sessions: Pick<SessionStorage, 'turns'> | undefined,
  { id, kind, name, owner, sessionId }: AskingRun,
  chain: ReadonlySet<string>,
): Promise<readonly Turn[]> {
  if (sessions === undefined || sessionId === undefined) return []
  const turns = await sessions.turns({ owner, place: [`${kind}:${name}`], sessionId }, id)
  const first = turns.findIndex(({ runId }) => chain.has(runId))
  return first === -1 ? [] : turns.slice(0, first)
}

/** A turn that goes on has the input of the one before. */
function messagesOf({ input, text, continuedFrom, steered = [] }: Turn): HistoryMessage[] {
  const inputs = [...(continuedFrom === undefined ? [input] : []), ...steered.map(each => each.input)]
  return [...inputs.map(each => ({ role: 'user' as const, content: toKeptInput(each) })), ...answerOf(text)]
}

function answerOf(text: string | undefined): HistoryMessage[] {
  return text ? [{ role: 'assistant', content: text.slice(-MAX_TEXT) }] : []
}
