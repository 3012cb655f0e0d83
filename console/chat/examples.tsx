import type { Kind } from '../../src/agents/contract.ts'
import { goTo } from '../route.ts'
import { visible } from '../text.ts'
import { chatOf, NO_DRAFT } from './chats.ts'

/** Example prompts. Each opens a chat with the prompt as the message, which the user sends. */
export function Examples({
  kind,
  name,
  examples = [],
  session,
}: {
  kind: Kind
  name: string
  examples: readonly string[] | undefined
  /** The session of the chat that is open. */
  session?: string | undefined
}) {
  const open = (text: string) => {
    chatOf(kind, name, session).draft.value = { ...NO_DRAFT, text }
    goTo('chat', [kind, name], session === undefined ? {} : { session })
  }
  if (examples.length === 0) return null
  return (
    <ul class="actions examples" aria-label="Example prompts">
      {examples.map(text => (
        <li key={text}>
          <button type="button" onClick={() => open(text)}>
            {visible(text)}
          </button>
        </li>
      ))}
    </ul>
  )
}
