/**
 * Tools of the client for an agent of Mastra. A run whose model calls one finishes with requests. The run that goes on tells
 * Mastra its own messages again, with the results in them. Their ids stay, so a thread has each of them once.
 *
 * @module
 */

import type { ClientTool, RunEvent } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { ServableError } from '../../base/errors.ts'
import type { Ending } from './adapter.ts'
import type { AiParts } from './ai-sdk/ai-parts.ts'
import { callMethod, type Fields, fieldsOf, hasMethods, listIn, textIn } from './fields.ts'
import { type Asked, answerTo, type Before } from './waits.ts'

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

/** The messages with the results of the client. Throws `invalid_input` for an answer that is no result. */
export function answeredMessages({ state, waiting }: Before, context: RunContext): readonly Fields[] {
  const results = waiting.map((each): [string, unknown] => [each.key, answerTo(each, context).result])
  return withResults(listIn(state.messages).map(fieldsOf), new Map(results))
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

/** The requests for the calls of `tools`. Calls beyond the limit fail. */
export async function* askClient(
  stream: Fields,
  tools: Fields,
  parts: AiParts,
): AsyncGenerator<RunEvent, Ending> {
  const messages = await messagesOf(stream)
  const asked: Asked[] = []
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

/** All messages of a run, each once. Without its time a message comes last when it is told again. */
async function messagesOf({ messageList, response }: Fields): Promise<readonly Fields[]> {
  const { input } = fieldsOf(fieldsOf(messageList).get)
  const told = hasMethods(input, 'db') ? listIn(callMethod(input, 'db')) : []
  const { dbMessages } = fieldsOf(await response)
  const all: readonly Fields[] = JSON.parse(JSON.stringify([...told, ...listIn(dbMessages)]))
  return [...new Map(all.map(({ createdAt, ...message }) => [message.id, message])).values()]
}
