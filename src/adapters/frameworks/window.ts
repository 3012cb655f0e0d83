import type { RunContext } from '../../agents/work/perform.ts'
import { fieldsOf, listIn, textIn } from './fields.ts'

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
