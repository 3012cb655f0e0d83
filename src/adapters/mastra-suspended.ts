/**
 * Calls that Mastra has suspended: those that need an approval, and those whose tool asks for something. Mastra keeps them in
 * its own storage, by the id of its run.
 *
 * @module
 */

import type { RunEvent } from '../agents/contract.ts'
import { parseArgs } from '../agents/fold.ts'
import type { RunContext } from '../agents/perform.ts'
import type { AiParts } from './ai-parts.ts'
import { callMethod, type Fields, fieldsOf, hasMethods, objectIn, textIn } from './fields.ts'
import { type Asked, type Before, decisionOf, givenBy, lost, questionOf, type Waiting } from './waits.ts'

/** Collects the calls of one run that are suspended at its end. */
export class Suspended {
  readonly #open = new Map<string, Fields>()
  #isTold = false

  read(chunk: unknown): void {
    const { type, payload } = fieldsOf(chunk)
    const { toolCallId, ...call } = fieldsOf(payload)
    const id = textIn(toolCallId)
    if (id === undefined) return
    if (type === 'tool-call-approval' || type === 'tool-call-suspended') this.#open.set(id, { ...call, type })
    if (type === 'tool-result' || type === 'tool-error') this.#open.delete(id)
  }

  /** Tells the calls that waited again: their ends come in this run. */
  *tellAgain({ waiting }: Before, parts: AiParts): Generator<RunEvent> {
    if (this.#isTold) return
    this.#isTold = true
    for (const { key, request } of waiting) {
      if (request.kind === 'client_tool') continue
      const { toolName, args: input } = request
      yield* parts.read({ type: 'tool-call', toolCallId: key, toolName, input })
    }
  }

  asked(parts: AiParts): readonly Asked[] {
    return [...this.#open].map(([key, { type, toolName: tool, args, suspendPayload, resumeSchema }]) => {
      const call = { toolCallId: parts.idOf(key), toolName: String(tool), args }
      if (type === 'tool-call-approval') return { key, kind: 'approval', ...call }
      const schema = objectIn(parseArgs(textIn(resumeSchema) ?? 'null'))
      const message = questionOf(suspendPayload)
      return { key, kind: 'question', name: call.toolName, message, ...call, ...(schema && { schema }) }
    })
  }
}

/** What is kept of a run that is suspended. Throws `not_resumable` where Mastra has no storage. */
export function suspendedState(agent: unknown, { runId }: Fields): object {
  const mastra = hasMethods(agent, 'getMastraInstance') ? callMethod(agent, 'getMastraInstance') : undefined
  const storage = hasMethods(mastra, 'getStorage') ? callMethod(mastra, 'getStorage') : undefined
  if (objectIn(storage)) return { run: runId }
  throw lost(
    'A tool waits for an answer, and the agent is in no `new Mastra({ agents, storage })` that could keep it',
  )
}

/** Whether the run before was suspended. */
export function isSuspended({ state }: Before): boolean {
  return state.run !== undefined
}

/**
 * Goes on with the calls that waited, one after another: each gives a stream. Throws `not_resumable` where Mastra's storage has
 * lost the run.
 */
export async function* resumed(
  agent: unknown,
  { state, waiting }: Before,
  context: RunContext,
  options: object,
): AsyncGenerator<Fields> {
  const answers = waiting.map(each => ({ toolCallId: each.key, data: dataOf(each, context) }))
  for (const { toolCallId, data } of answers) {
    yield await resume(agent, data, { ...options, runId: state.run, toolCallId })
  }
}

async function resume(agent: unknown, data: unknown, options: object): Promise<Fields> {
  try {
    return fieldsOf(await callMethod(agent, 'resumeStream', data, options))
  } catch (cause) {
    if (!/^AGENT_RESUME_/.test(String(fieldsOf(cause).id))) throw cause
    throw lost("Mastra's storage has no run that waits for this answer", cause)
  }
}

/** An answer as Mastra takes it. */
function dataOf(waiting: Waiting, context: RunContext): unknown {
  if (waiting.request.kind === 'question') return givenBy(waiting, context)
  const { approved, reason } = decisionOf(waiting, context)
  return { approved, ...(reason !== undefined && { reason }) }
}
