import type { ContentPart, RunInput } from '../agents/contract.ts'
import { dataOf, formatOf, urlOf } from './media.ts'
import type { EarlierMessage } from './window.ts'

/** The input of a run as OpenAI's Agents SDK takes it: text as it is, parts as one message of the user. */
export function toOpenAiInput(input: RunInput): string | readonly object[] {
  return typeof input === 'string' ? input : [{ role: 'user', content: input.map(toOpenAiPart) }]
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
