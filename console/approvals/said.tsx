import { useState } from 'preact/hooks'
import type { HistoryMessage } from '../../src/agents/contract.ts'
import { Contents } from '../chat/file-view.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { number, visible } from '../text.ts'

/** Messages that are shown at first: the last ones. */
const FEW = 6

/** What the user and the agent said before. */
export function Said({ messages, agent }: { messages: readonly HistoryMessage[]; agent: string }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? messages : messages.slice(-FEW)
  return (
    <section class="talk" aria-label="What was said before">
      {shown.length < messages.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show {number(messages.length - shown.length)} earlier messages
        </button>
      )}
      {shown.map((message, at) => (
        <div key={messages.length - shown.length + at}>
          <p class="soft small">{message.role === 'user' ? 'User' : visible(agent)}</p>
          <Words message={message} />
        </div>
      ))}
    </section>
  )
}

/** The user's words as they came, and the agent's as Markdown. */
function Words({ message }: { message: HistoryMessage }) {
  const content = ('content' in message && message.content) || ''
  if (typeof content !== 'string')
    return (
      <div class="said quote">
        <Contents parts={content} name="" />
      </div>
    )
  if (message.role !== 'user') return <Markdown text={content} isWhole />
  return (
    <p class="said quote plain" dir="auto">
      {visible(content)}
    </p>
  )
}
