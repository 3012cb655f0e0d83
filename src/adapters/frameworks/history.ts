/**
 * What came before a run, for frameworks: the history that its client sends, and the messages of its session.
 *
 * @module
 */

import type { HistoryMessage } from '../../agents/contract.ts'
import { ownerOf, threadIdOf } from '../../agents/memory.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { fieldsOf, listIn, textIn } from './fields.ts'

/** A message of a client's history that is passed to a framework. */
export type PassedMessage = Exclude<HistoryMessage, { readonly role: 'system' | 'user' }> | UserMessage

interface UserMessage {
  readonly role: 'user'
  readonly content: Extract<HistoryMessage, { readonly role: 'user' | 'system' }>['content']
}

/**
 * The whole turns of a client's history; undefined without a history. It leaves out system messages, which some frameworks
 * refuse, messages before the first user message, and turns that no provider accepts: a call without its result.
 */
export function turnsOf(
  history: readonly HistoryMessage[] | undefined,
): readonly PassedMessage[] | undefined {
  const turns: PassedMessage[][] = []
  for (const message of history?.filter(isPassed) ?? []) {
    if (message.role === 'user') turns.push([message])
    else turns.at(-1)?.push(message)
  }
  return history && turns.filter(isWhole).flat().filter(saysAnything)
}

function isPassed(message: HistoryMessage): message is PassedMessage {
  return message.role !== 'system'
}

function isWhole(turn: readonly PassedMessage[]): boolean {
  const open = new Set<string>()
  for (const message of turn) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) open.add(call.toolCallId)
    if (message.role === 'tool' && !open.delete(message.toolCallId)) return false
  }
  return open.size === 0
}

/** Whether a message has content. No provider accepts an empty message. */
function saysAnything(message: PassedMessage): boolean {
  if (message.role === 'tool') return true
  const { content = '' } = message
  return content.length > 0 || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0)
}

/** The tool names by the ids of their calls. */
export function namesIn(turns: readonly PassedMessage[]): ReadonlyMap<string, string> {
  const calls = turns.flatMap(message => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]))
}

/** The result of a tool as text. */
export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** The text of an assistant message, with its data as JSON. Providers accept no files of an assistant. */
export function assistantText({
  content = '',
}: Extract<PassedMessage, { readonly role: 'assistant' }>): string {
  if (typeof content === 'string') return content
  return content
    .flatMap(part => {
      if (part.type === 'text') return [part.text]
      return part.type === 'data' ? [resultText(part.data)] : []
    })
    .join('\n')
}

/**
 * The id of the conversation in a framework's memory. Each owner has its own. Undefined if the run has no session, or if its
 * client sends the history.
 */
export function threadOf(context: RunContext): string | undefined {
  const { sessionId, history } = context
  if (sessionId === undefined || history !== undefined) return undefined
  return threadIdOf(ownerOf(context), sessionId)
}

/** A message of an earlier turn. */
export interface EarlierMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The earlier messages in the session of a run, oldest first: only their texts, which every framework accepts. */
export async function earlierOf({ memory }: Pick<RunContext, 'memory'>): Promise<readonly EarlierMessage[]> {
  const messages = (await memory?.session()?.read()) ?? []
  return messages.flatMap(message => {
    const { role, content } = fieldsOf(message)
    const text = textIn(content) ?? listIn(content).map(textOf).join('\n')
    return (role === 'user' || role === 'assistant') && text !== '' ? [{ role, content: text }] : []
  })
}

function textOf(part: unknown): string {
  const { type, text } = fieldsOf(part)
  return type === 'text' ? (textIn(text) ?? '') : ''
}
