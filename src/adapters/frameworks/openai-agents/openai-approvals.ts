/**
 * Tool calls of OpenAI's Agents SDK that wait for an approval. The SDK stores a waiting run as text.
 *
 * @module
 */

import type { Usage } from '../../../agents/contract.ts'
import { parseArgs } from '../../../agents/fold.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { ServableError } from '../../../base/errors.ts'
import { toUsage } from '../ending.ts'
import { callMethod, fieldsOf, hasMethods, listIn, textIn, type UnknownFields } from '../fields.ts'
import { type AgentRequest, answerTo, type Before, lost } from '../waits.ts'

/** A run of the SDK that continues. */
export interface ResumedRun {
  /** The SDK's state, with the decisions. */
  readonly state: unknown
  /** The calls that waited. */
  readonly items: readonly UnknownFields[]
  /** The usage before. */
  readonly used: Usage | undefined
}

/** The approvals that a run of the SDK requests. Throws `invalid_options` without the class that reads such a run again. */
export function asksIn(stream: UnknownFields, RunState: unknown): readonly AgentRequest[] {
  const items = listIn(stream.interruptions).filter(item => idOf(item) !== undefined)
  if (items.length > 0 && !hasMethods(RunState, 'fromString')) {
    throw new ServableError(
      'invalid_options',
      'A tool needs an approval: give `toAgent` the class `RunState`',
    )
  }
  return items.map(item => {
    const { name, rawItem } = fieldsOf(item)
    const { arguments: text, action, ...call } = fieldsOf(rawItem)
    const toolName = String(name ?? call.name)
    const args = typeof text === 'string' ? parseArgs(text) : action
    const key = String(idOf(item))
    return { key, kind: 'approval', toolCallId: key, toolName, args }
  })
}

function idOf(item: unknown): string | undefined {
  const { callId, id } = fieldsOf(fieldsOf(item).rawItem)
  return textIn(callId) ?? textIn(id)
}

/**
 * Reads a run that waited, and applies the decisions. Throws `not_resumable` for a text that this version of the SDK cannot read.
 */
export async function goOn(
  agent: unknown,
  RunState: unknown,
  { state: { run }, waiting }: Before,
  context: RunContext,
): Promise<ResumedRun> {
  const read = async () => callMethod(RunState, 'fromString', agent, run)
  const state = await read().catch(cause => {
    throw lost('This agent cannot read the `RunState` that was kept', cause)
  })
  const items = listIn(callMethod(state, 'getInterruptions')).map(fieldsOf)
  for (const each of waiting) {
    const item = items.find(item => idOf(item) === each.key)
    const { decision, reason } = answerTo(each, context)
    callMethod(state, decision === 'approve' ? 'approve' : 'reject', item, { message: reason })
  }
  return { state, items, used: toUsage(fieldsOf(state).usage) }
}

/** The usage since then. */
export function usedSince(all: Usage | undefined, before: Usage | undefined): Usage | undefined {
  if (all === undefined || before === undefined) return all
  const promptTokens = all.promptTokens - before.promptTokens
  const completionTokens = all.completionTokens - before.completionTokens
  return { promptTokens, completionTokens, totalTokens: all.totalTokens - before.totalTokens }
}
