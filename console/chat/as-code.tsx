import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.tsx'
import { ASKS, BASE, config, providerKeys } from '../service.ts'
import { type Chat, userId } from './chats.ts'
import { clientCode, curl, openaiCode, type Shown, useChatCode } from './code.ts'
import type { Turn } from './turn.ts'

const WAYS: readonly {
  readonly title: string
  readonly make: (run: Shown) => string
  readonly plugin?: string
}[] = [
  { title: 'curl', make: curl },
  { title: 'client', make: clientCode },
  { title: 'useChat', make: useChatCode, plugin: 'ai-sdk-ui' },
  { title: 'OpenAI SDK', make: openaiCode, plugin: 'openai' },
]

/** A message as code to copy. */
export function AsCode({ chat: { kind, name, sessionId }, turn: { input } }: { chat: Chat; turn: Turn }) {
  const ways = WAYS.filter(({ plugin }) => plugin === undefined || config.value.plugins.includes(plugin))
  const [chosen, setChosen] = useState(0)
  const run: Shown = {
    ...{ base: BASE, kind, name, input, sessionId: sessionId.value, ask: ASKS[0] },
    userId: userId.value || undefined,
    hasKey: Object.keys(providerKeys.value).length > 0,
  }
  const code = ways[chosen]?.make(run) ?? ''
  return (
    <div class="code">
      <label>
        Code for
        <select value={chosen} onChange={event => setChosen(Number(event.currentTarget.value))}>
          {ways.map(({ title }, index) => (
            <option key={title} value={index}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <pre>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label="code" />
    </div>
  )
}
