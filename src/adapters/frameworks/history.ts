import type { HistoryMessage } from '../../agents/contract.ts'

/** A message of a client's history that is told to a framework. */
export type Told = Exclude<HistoryMessage, { readonly role: 'system' | 'user' }> | UserMessage

interface UserMessage {
  readonly role: 'user'
  readonly content: Extract<HistoryMessage, { readonly role: 'user' | 'system' }>['content']
}

/**
 * The whole turns of a client's history; undefined where the run has none. Left out are system messages, which some frameworks
 * refuse, what comes before the first message of the user, and turns that no provider takes: a call without its result.
 */
export function toldOf(history: readonly HistoryMessage[] | undefined): readonly Told[] | undefined {
  const turns: Told[][] = []
  for (const message of history?.filter(isTold) ?? []) {
    if (message.role === 'user') turns.push([message])
    else turns.at(-1)?.push(message)
  }
  return history && turns.filter(isWhole).flat().filter(saysAnything)
}

function isTold(message: HistoryMessage): message is Told {
  return message.role !== 'system'
}

function isWhole(turn: readonly Told[]): boolean {
  const open = new Set<string>()
  for (const message of turn) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) open.add(call.toolCallId)
    if (message.role === 'tool' && !open.delete(message.toolCallId)) return false
  }
  return open.size === 0
}

/** No provider takes a message that says nothing. */
function saysAnything(message: Told): boolean {
  if (message.role === 'tool') return true
  const { content = '' } = message
  return content.length > 0 || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0)
}

/** The names of the tools by the ids of their calls. */
export function namesIn(told: readonly Told[]): ReadonlyMap<string, string> {
  const calls = told.flatMap(message => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]))
}

/** The result of a tool as text. */
export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** What an assistant said, as text with its data as JSON. Providers take no files of an assistant. */
export function spokenText({ content = '' }: Extract<Told, { readonly role: 'assistant' }>): string {
  if (typeof content === 'string') return content
  return content
    .flatMap(part => {
      if (part.type === 'text') return [part.text]
      return part.type === 'data' ? [resultText(part.data)] : []
    })
    .join('\n')
}
