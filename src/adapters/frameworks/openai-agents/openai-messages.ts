import type { ContentPart, HistoryMessage, RunInput } from '../../../agents/contract.ts'
import {
  assistantText,
  type EarlierMessage,
  namesIn,
  type PassedMessage,
  resultText,
  turnsOf,
} from '../history.ts'
import { dataOf, formatOf, urlOf } from '../media.ts'

/**
 * The input of a run for OpenAI's Agents SDK: text unchanged, parts as one user message. With a history the input is the last
 * item.
 */
export function toOpenAiInput(
  input: RunInput,
  history?: readonly HistoryMessage[],
): string | readonly object[] {
  const turns = turnsOf(history)
  if (turns === undefined) return typeof input === 'string' ? input : [userItem(input)]
  const names = namesIn(turns)
  return [...turns.flatMap(message => itemsOf(message, names)), userItem(input)]
}

export function userItem(input: RunInput): object {
  return { role: 'user', content: typeof input === 'string' ? input : input.map(toOpenAiPart) }
}

function itemsOf(message: PassedMessage, names: ReadonlyMap<string, string>): object[] {
  if (message.role === 'user') return [userItem(message.content)]
  const status = 'completed'
  if (message.role === 'tool') {
    const { toolCallId: callId, result } = message
    const output = { type: 'text', text: resultText(result) }
    return [{ type: 'function_call_result', callId, name: names.get(callId), status, output }]
  }
  const text = assistantText(message)
  const texts = [{ role: 'assistant', status, content: [{ type: 'output_text', text }] }]
  const calls = (message.toolCalls ?? []).map(({ toolCallId: callId, toolName: name, args = {} }) => ({
    type: 'function_call',
    callId,
    name,
    status,
    arguments: JSON.stringify(args),
  }))
  return [...(text === '' ? [] : texts), ...calls]
}

/** An earlier message as an input item. */
export function toOpenAiMessage({ role, content }: EarlierMessage): object {
  if (role === 'user') return { role, content }
  return { role, status: 'completed', content: [{ type: 'output_text', text: content }] }
}

function toOpenAiPart(part: ContentPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'data':
      return { type: 'input_text', text: JSON.stringify(part.data) }
    case 'image':
      return { type: 'input_image', image: urlOf(part) }
    case 'audio':
      return { type: 'audio', audio: dataOf(part), format: formatOf(part) }
    case 'file':
      return {
        type: 'input_file',
        file: /^https?:/i.test(part.data) ? { url: part.data } : urlOf(part),
        ...(part.filename !== undefined && { filename: part.filename }),
      }
  }
}
