/**
 * Calls that Mastra has suspended: those that need an approval, and those whose tool asks for something. Mastra stores them in
 * its own storage, by the id of its run.
 *
 * @module
 */

import { parseArgs } from '../../../agents/fold.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { callMethod, fieldsOf, hasMethods, objectIn, textIn, type UnknownFields } from '../fields.ts'
import { type AgentQuestion, answerTo, type Before, lost, questionOf, type WaitingRequest } from '../waits.ts'

/** Makes an AI SDK part of a call that Mastra has suspended. */
export function toRequestPart(type: unknown, payload: UnknownFields): object {
  const { toolCallId, toolName, args: input, suspendPayload, resumeSchema } = payload
  const schema = objectIn(parseArgs(textIn(resumeSchema) ?? 'null'))
  const message = questionOf(suspendPayload)
  const question: AgentQuestion = {
    kind: 'question',
    name: String(toolName),
    message,
    ...(schema && { schema }),
  }
  return {
    type: 'tool-approval-request',
    approvalId: toolCallId,
    toolCall: { toolCallId, toolName, input },
    ...(type === 'tool-call-suspended' && { question }),
  }
}

/** The stored state of a suspended run. Throws `not_resumable` if Mastra has no storage. */
export function keptOf(agent: unknown, { runId }: UnknownFields): object {
  const mastra = hasMethods(agent, 'getMastraInstance') ? callMethod(agent, 'getMastraInstance') : undefined
  const storage = hasMethods(mastra, 'getStorage') ? callMethod(mastra, 'getStorage') : undefined
  if (objectIn(storage)) return { run: runId }
  throw lost('A tool waits, and the agent is in no `new Mastra({ agents, storage })`')
}

/** Whether the run before was suspended. */
export function isSuspended({ state }: Before): boolean {
  return state.run !== undefined
}

/**
 * Resumes the calls that waited, one after another; each yields a stream. Throws `not_resumable` if Mastra's storage has lost the
 * run.
 */
export async function* resumed(
  agent: unknown,
  { state, waiting }: Before,
  context: RunContext,
  options: object,
): AsyncGenerator<UnknownFields> {
  const answers = waiting.map(each => ({ toolCallId: each.key, data: dataOf(each, context) }))
  for (const { toolCallId, data } of answers) {
    yield await resume(agent, data, { ...options, runId: state.run, toolCallId })
  }
}

async function resume(agent: unknown, data: unknown, options: object): Promise<UnknownFields> {
  try {
    return fieldsOf(await callMethod(agent, 'resumeStream', data, options))
  } catch (cause) {
    if (!/^AGENT_RESUME_/.test(String(fieldsOf(cause).id))) throw cause
    throw lost('The storage of Mastra has lost the run', cause)
  }
}

/** An answer in Mastra's form. */
function dataOf(waiting: WaitingRequest, context: RunContext): unknown {
  const { value, decision, reason } = answerTo(waiting, context)
  return waiting.request.kind === 'question' ? value : { approved: decision === 'approve', reason }
}
