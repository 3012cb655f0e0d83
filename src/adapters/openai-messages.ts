import type { ContentPart, RunInput } from '../agents/contract.ts'
import { dataOf, formatOf, urlOf } from './media.ts'

/** The input of a run for OpenAI's Agents SDK. Text stays as it is. Parts become one message of the user. */
export function toOpenAiInput(input: RunInput): unknown {
  return typeof input === 'string' ? input : [{ role: 'user', content: input.map(toOpenAiPart) }]
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
