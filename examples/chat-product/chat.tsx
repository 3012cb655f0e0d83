import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import type { SubmitEvent } from 'react'
import { messagesOf } from 'servable/ai-sdk-ui/page'
import { Button, Message } from './message.tsx'
import type { Turns } from './service.ts'

const transport = new DefaultChatTransport({ api: '/api/agents/assistant/chat' })

export function Chat(props: { id: string; turns: Turns; onChange: () => void; onShow: () => void }) {
  const { id, turns, onChange, onShow } = props
  const chat = useChat({ id, transport, messages: messagesOf(turns), resume: true, onFinish: onChange })
  function send(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault()
    void chat.sendMessage({ text: String(new FormData(event.currentTarget).get('text')) })
    event.currentTarget.reset()
  }
  return (
    <main>
      {chat.messages.map(message => (
        <Message key={message.id} {...{ message, chat, turns, onShow }} />
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required />
        <Button type="submit" disabled={chat.status !== 'ready'}>
          Send
        </Button>
      </form>
    </main>
  )
}
