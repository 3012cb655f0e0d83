'use client'

import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import type { SubmitEvent } from 'react'

const transport = new DefaultChatTransport({ api: '/api/agents/assistant/chat' })

/** A conversation with the agent. */
export function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat({ transport })
  const isBusy = status === 'submitted' || status === 'streaming'

  function send(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('text')).trim()
    if (isBusy || text === '') return
    event.currentTarget.reset()
    void sendMessage({ text })
  }

  return (
    <main>
      <div role="log" aria-label="Messages">
        {messages.map(message => (
          <Message key={message.id} {...message} />
        ))}
        {status === 'submitted' && <p role="status">Thinking…</p>}
        {error && <p role="alert">{error.message}</p>}
      </div>
      <form onSubmit={send}>
        <input
          name="text"
          aria-label="Message"
          defaultValue="What is the weather in Oslo?"
          autoComplete="off"
        />
        <button type="submit" disabled={isBusy}>
          Send
        </button>
        <button type="button" onClick={stop} disabled={!isBusy}>
          Stop
        </button>
      </form>
    </main>
  )
}

function Message({ id, role, parts }: UIMessage) {
  return (
    <article data-role={role}>
      {parts.map((part, index) => {
        const key = `${id}/${index}`
        if (part.type === 'text') return <p key={key}>{part.text}</p>
        if (part.type !== 'dynamic-tool') return null
        return (
          <p key={key} className="tool">
            {part.toolName} {JSON.stringify(part.input)}
          </p>
        )
      })}
    </article>
  )
}
