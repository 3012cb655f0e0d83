/**
 * Tools of the client for an agent of Mastra. A run whose model calls one finishes with requests. The run that goes on tells
 * Mastra its own messages again, with the results in them. Their ids stay, so a thread has each of them once.
 *
 * @module
 */

import type { Answer, ClientTool, InputRequest, RunEvent } from '../agents/contract.ts'
import { MAX_REQUESTS } from '../agents/event.ts'
import { isAnswered, placeOf, requestOf } from '../agents/input-request.ts'
import type { RunContext } from '../agents/perform.ts'
import { ServableError } from '../errors.ts'
import type { AiParts } from './ai-parts.ts'
import { callMethod, type Fields, fieldsOf, hasMethods, listIn, textIn } from './fields.ts'

/** A call that waits, with the id that Mastra knows. */
interface Waiting {
  readonly toolCallId: string
  readonly request: InputRequest
}

/** What is kept of a run that waits, as JSON. */
interface Kept {
  /** As Mastra has them: what was said to the agent, and what it said. */
  readonly messages: readonly Fields[]
  readonly waiting: readonly Waiting[]
}

/** Tools as Mastra takes them for one call. Throws `invalid_input` for the name of a tool of the agent. */
export async function toMastraTools(
  agent: unknown,
  tools: readonly ClientTool[] = [],
): Promise<Fields | undefined> {
  if (tools.length === 0) return undefined
  const own = await ownTools(agent)
  const all = tools.map(({ name, description, parameters = { type: 'object' } }) => {
    if (Object.hasOwn(own, name)) {
      throw new ServableError('invalid_input', `\`clientTools\`: the agent has a tool \`${name}\` of its own`)
    }
    return [name, { id: name, description, inputSchema: toStandardSchema(parameters) }]
  })
  return Object.fromEntries(all)
}

/** Nothing if the tools depend on the request. */
async function ownTools(agent: unknown): Promise<Fields> {
  const ask = async () => fieldsOf(await callMethod(agent, 'listTools'))
  return ask().catch(() => ({}))
}

/** The client's schema as it is. From a plain one Mastra would make code and patterns, which then run here. */
function toStandardSchema(schema: unknown): object {
  const jsonSchema = { input: () => schema, output: () => schema }
  const validate = (value: unknown) => ({ value })
  return { '~standard': { version: 1, vendor: 'servable', validate, jsonSchema } }
}

/** What the run before kept; undefined if it kept nothing. Throws `workflow_changed` for what another agent kept. */
export function keptIn({ work, scope }: RunContext): Kept | undefined {
  const kept = work?.read()
  if (kept === undefined) return undefined
  if (!isKept(kept)) throw new ServableError('workflow_changed', 'The run that waited was not of this agent')
  scope.meet(kept.waiting.map(({ request }) => request))
  return kept
}

function isKept(value: unknown): value is Kept {
  const { messages, waiting } = fieldsOf(value)
  return Array.isArray(messages) && Array.isArray(waiting) && waiting.every(isWaiting)
}

function isWaiting(value: unknown): value is Waiting {
  const { toolCallId, request } = fieldsOf(value)
  const { id, kind } = fieldsOf(request)
  return textIn(toolCallId) !== undefined && textIn(id) !== undefined && kind === 'client_tool'
}

/**
 * The messages with the results of the client; undefined where one is missing. Throws `invalid_input` for an answer that is no
 * result.
 */
export function answeredMessages(
  { messages, waiting }: Kept,
  answers: readonly Answer[] = [],
): readonly Fields[] | undefined {
  if (!isAnswered(waiting, answers)) return undefined
  const byId = new Map(answers.map(answer => [answer.id, answer]))
  const results = waiting.map(({ toolCallId, request: { id } }): [string, unknown] => {
    const answer = byId.get(id)
    if (answer !== undefined && 'result' in answer) return [toolCallId, answer.result]
    throw new ServableError('invalid_input', `There is no answer to \`${id}\` that fits`)
  })
  return withResults(messages, new Map(results))
}

function withResults(messages: readonly Fields[], results: ReadonlyMap<unknown, unknown>): readonly Fields[] {
  return messages.map(message => {
    const content = fieldsOf(message.content)
    const parts = listIn(content.parts).map(part => {
      const call = openCallOf(part)
      if (call === undefined || !results.has(call.toolCallId)) return part
      const result = results.get(call.toolCallId) ?? null
      return { ...fieldsOf(part), toolInvocation: { ...call, state: 'result', result } }
    })
    return { ...message, content: { ...content, parts } }
  })
}

/** The call of a part of a message, if it has no result. */
function openCallOf(part: unknown): Fields | undefined {
  const call = fieldsOf(fieldsOf(part).toolInvocation)
  return call.state === 'call' ? call : undefined
}

/** Keeps what was said, and gives the requests for the calls of `tools`. Calls beyond the limit fail. `stream` has ended. */
export async function* askClient(
  stream: Fields,
  tools: Fields,
  parts: AiParts,
  { runId, scope, work }: RunContext,
): AsyncGenerator<RunEvent, readonly InputRequest[]> {
  const messages = await messagesOf(stream)
  const waiting: Waiting[] = []
  const refused = new Map<unknown, string>()
  for (const part of messages.flatMap(({ content }) => listIn(fieldsOf(content).parts))) {
    const { args, ...call } = openCallOf(part) ?? {}
    const [toolCallId, toolName] = [textIn(call.toolCallId), textIn(call.toolName)]
    if (toolCallId === undefined || toolName === undefined || !Object.hasOwn(tools, toolName)) continue
    if (waiting.length === MAX_REQUESTS) {
      const error = `At most ${MAX_REQUESTS} of these calls can wait at a time`
      refused.set(toolCallId, error)
      yield* parts.read({ type: 'tool-error', toolCallId, error })
      continue
    }
    const kind = 'client_tool'
    const id = `${runId}/${scope.next(placeOf({ kind, toolName }), 'tool')}`
    const told = parts.idOf(toolCallId)
    waiting.push({ toolCallId, request: await requestOf({ id, kind, toolCallId: told, toolName, args }) })
  }
  if (waiting.length > 0) work?.keep({ messages: withResults(messages, refused), waiting })
  return waiting.map(({ request }) => request)
}

/** All messages of a run, each once. Without its time a message comes last when it is told again. */
async function messagesOf({ messageList, response }: Fields): Promise<readonly Fields[]> {
  const { input } = fieldsOf(fieldsOf(messageList).get)
  const told = hasMethods(input, 'db') ? listIn(callMethod(input, 'db')) : []
  const { dbMessages } = fieldsOf(await response)
  const all: readonly Fields[] = JSON.parse(JSON.stringify([...told, ...listIn(dbMessages)]))
  return [...new Map(all.map(({ createdAt, ...message }) => [message.id, message])).values()]
}
