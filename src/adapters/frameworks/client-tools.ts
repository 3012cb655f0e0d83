/**
 * Tools of the client for an agent of Mastra. A run whose model calls one finishes with requests. The run that goes on sends
 * Mastra its own messages again, with the results in them. Their ids stay, so a thread has each of them once.
 *
 * @module
 */

import type { ClientTool, RunEvent } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { ServableError } from '../../base/errors.ts'
import type { AdapterEnd } from './adapter.ts'
import type { AiParts } from './ai-sdk/ai-parts.ts'
import { callMethod, fieldsOf, hasMethods, listIn, textIn, type UnknownFields } from './fields.ts'
import { type AgentRequest, answerTo, type Before } from './waits.ts'

/** Converts tools for one call of Mastra. Throws `invalid_input` for the name of one of the agent's tools. */
export async function toMastraTools(
  agent: unknown,
  tools: readonly ClientTool[] = [],
): Promise<UnknownFields | undefined> {
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

/** Empty if the tools depend on the request. */
async function ownTools(agent: unknown): Promise<UnknownFields> {
  const ask = async () => fieldsOf(await callMethod(agent, 'listTools'))
  return ask().catch(() => ({}))
}

/** Passes the client's schema on unchanged. From a plain schema Mastra would generate code and patterns and run them here. */
function toStandardSchema(schema: unknown): object {
  const jsonSchema = { input: () => schema, output: () => schema }
  const validate = (value: unknown) => ({ value })
  return { '~standard': { version: 1, vendor: 'servable', validate, jsonSchema } }
}

/** The messages with the client's results. Throws `invalid_input` for an answer that is not a result. */
export function answeredMessages({ state, waiting }: Before, context: RunContext): readonly UnknownFields[] {
  const results = waiting.map((each): [string, unknown] => [each.key, answerTo(each, context).result])
  return withResults(listIn(state.messages).map(fieldsOf), new Map(results))
}

function withResults(
  messages: readonly UnknownFields[],
  results: ReadonlyMap<unknown, unknown>,
): readonly UnknownFields[] {
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
function openCallOf(part: unknown): UnknownFields | undefined {
  const call = fieldsOf(fieldsOf(part).toolInvocation)
  return call.state === 'call' ? call : undefined
}

/** The requests for the calls of `tools`. Calls beyond the limit fail. */
export async function* askClient(
  stream: UnknownFields,
  tools: UnknownFields,
  parts: AiParts,
): AsyncGenerator<RunEvent, AdapterEnd> {
  const messages = await messagesOf(stream)
  const asked: AgentRequest[] = []
  const refused = new Map<unknown, string>()
  for (const part of messages.flatMap(({ content }) => listIn(fieldsOf(content).parts))) {
    const { args, ...call } = openCallOf(part) ?? {}
    const [key, toolName] = [textIn(call.toolCallId), textIn(call.toolName)]
    if (key === undefined || toolName === undefined || !Object.hasOwn(tools, toolName)) continue
    if (asked.length === MAX_REQUESTS) {
      const error = `At most ${MAX_REQUESTS} of these calls can wait at a time`
      refused.set(key, error)
      yield* parts.read({ type: 'tool-error', toolCallId: key, error })
      continue
    }
    asked.push({ key, kind: 'client_tool', toolCallId: parts.idOf(key), toolName, args })
  }
  return { asked, state: () => ({ messages: withResults(messages, refused) }) }
}

/** All messages of a run, each once. `createdAt` is removed, so that a message that is sent again comes last. */
async function messagesOf({ messageList, response }: UnknownFields): Promise<readonly UnknownFields[]> {
  const { input } = fieldsOf(fieldsOf(messageList).get)
  const inputs = hasMethods(input, 'db') ? listIn(callMethod(input, 'db')) : []
  const { dbMessages } = fieldsOf(await response)
  const all: readonly UnknownFields[] = JSON.parse(JSON.stringify([...inputs, ...listIn(dbMessages)]))
  return [...new Map(all.map(({ createdAt, ...message }) => [message.id, message])).values()]
}
