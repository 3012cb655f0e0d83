/**
 * Tool calls of OpenAI's Agents SDK that wait for an approval. The SDK keeps a run that waits as a text.
 *
 * @module
 */

import type { Usage } from '../agents/contract.ts'
import { parseArgs } from '../agents/fold.ts'
import type { RunContext } from '../agents/perform.ts'
import { ServableError } from '../errors.ts'
import { toUsage } from './ending.ts'
import { callMethod, type Fields, fieldsOf, listIn, textIn } from './fields.ts'
import { type Asked, type Before, decisionOf, lost } from './waits.ts'

/** A run of the SDK that goes on. */
export interface GoingOn {
  /** The SDK's state, with the decisions. */
  readonly state: unknown
  /** The calls that waited. */
  readonly items: readonly Fields[]
  /** What was used before. */
  readonly used: Usage | undefined
}

/** What the SDK needs to go on with a run that waits. Throws `invalid_event` where its state cannot be written as text. */
export function keptState(stream: Fields): { readonly run: unknown } {
  try {
    return { run: callMethod(stream.state, 'toString') }
  } catch (cause) {
    const text = 'The agent waits for an approval, and its `RunState` cannot be written as text'
    throw new ServableError('invalid_event', text, { cause })
  }
}

/** The approvals that a run of the SDK asks for. Throws `invalid_options` without the class that reads such a run again. */
export function asksIn(stream: Fields, RunState: unknown): readonly Asked[] {
  const items = listIn(stream.interruptions).filter(item => idOf(item) !== undefined)
  if (items.length > 0 && RunState === undefined) {
    const text = "a tool needs an approval: give `toAgent` the class `RunState` from '@openai/agents'"
    throw new ServableError('invalid_options', `\`servable\`: ${text}`)
  }
  return items.map(item => {
    const { name, rawItem } = fieldsOf(item)
    const { arguments: told, action, operation, ...call } = fieldsOf(rawItem)
    const text = textIn(told)
    const toolName = textIn(name) ?? textIn(call.name) ?? String(call.type)
    const args = text === undefined ? (action ?? operation) : parseArgs(text)
    const key = String(idOf(item))
    return { key, kind: 'approval', toolCallId: key, toolName, args }
  })
}

function idOf(item: unknown): string | undefined {
  const { callId, id } = fieldsOf(fieldsOf(item).rawItem)
  return textIn(callId) ?? textIn(id)
}

/** Reads a run that waited, and decides its calls. Throws `not_resumable` for a text that this version of the SDK cannot read. */
export async function goOn(
  agent: unknown,
  RunState: unknown,
  { state: { run }, waiting }: Before,
  context: RunContext,
): Promise<GoingOn> {
  const state = await readState(agent, RunState, run)
  const items = listIn(callMethod(state, 'getInterruptions')).map(fieldsOf)
  const byId = new Map(items.map(item => [idOf(item), item]))
  for (const each of waiting) {
    const item = byId.get(each.key)
    if (item === undefined) throw lost(`The agent has no call \`${each.key}\` that waits`)
    const { approved, reason } = decisionOf(each, context)
    if (approved) callMethod(state, 'approve', item)
    else callMethod(state, 'reject', item, reason === undefined ? undefined : { message: reason })
  }
  return { state, items, used: toUsage(fieldsOf(state).usage) }
}

async function readState(agent: unknown, RunState: unknown, run: unknown): Promise<unknown> {
  try {
    return await callMethod(RunState, 'fromString', agent, run)
  } catch (cause) {
    throw lost('The `RunState` of the run that waited cannot be read by this agent', cause)
  }
}

/** What was used since. */
export function usedSince(all: Usage | undefined, before: Usage | undefined): Usage | undefined {
  if (all === undefined || before === undefined) return all
  return {
    promptTokens: all.promptTokens - before.promptTokens,
    completionTokens: all.completionTokens - before.completionTokens,
    totalTokens: all.totalTokens - before.totalTokens,
  }
}
