import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithToolCalls as isAnswered,
  lastAssistantMessageIsCompleteWithApprovalResponses as isDecided,
} from 'ai'
import { useEffect, useRef, useState } from 'react'
import { type ChatMessage, type KeptMessage, stopChat } from 'servable/ai-sdk-ui/page'
import { attached } from './attached.ts'
import { Composer } from './composer.tsx'
import { Message } from './message.tsx'
import type { handler } from './service.ts'
import { chatOf, type Place, wordsOf } from './service-client.ts'

/** The messages of this service's agents. */
export type Told = ChatMessage<typeof handler>

interface Props {
  readonly place: Place
  readonly description: string | null | undefined
  readonly kept: KeptMessage[]
  /** An answer may be at work, or wait for a person. */
  readonly isResumed: boolean
  /** The list of chats may have changed. */
  readonly onChange: () => void
  /** The connection was lost in the middle of an answer. */
  readonly onLost: () => void
}

/** A conversation with an agent. */
export function Chat({ place, description, kept, isResumed, onChange, onLost }: Props) {
  const api = chatOf(place)
  const [transport] = useState(() => transportTo(api))
  const [stopProblem, setStopProblem] = useState<string>()
  const [waiting, setWaiting] = useState<readonly Waiting[]>([])
  const sent = useRef(waiting)
  sent.current = waiting
  const chat = useChat<Told>({
    id: place.id,
    messages: kept,
    resume: isResumed,
    throttle: 50,
    transport,
    // What was asked is answered: the service goes on.
    sendAutomaticallyWhen: sent => isDecided(sent) || (isAnswered(sent) && !isAsked(sent)),
    onFinish: ({ message, message: { metadata }, isAbort, isError, isDisconnect }) => {
      const hasEnded = isAbort || isError || metadata?.finishReason !== undefined
      if (metadata !== undefined && (isDisconnect || !hasEnded)) onLost()
      // Their answers come next: the chat is loaded with them.
      else if (waitingIn(message, sent.current).length > 0) onLost()
    },
  })
  const { messages, status, error } = chat
  const isBusy = status === 'submitted' || status === 'streaming'

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is listed of a chat changes when an answer begins and ends
  useEffect(() => void onChange(), [onChange, status])

  async function stop(): Promise<void> {
    setStopProblem(undefined)
    try {
      await stopChat(api, place.id)
    } catch (error) {
      setStopProblem(wordsOf(error))
    }
  }

  async function more(text: string, concurrency: 'queue' | 'steer'): Promise<void> {
    const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] }
    setWaiting(before => [...before, { id: message.id, text }])
    const body = { id: place.id, trigger: 'submit-message', messages: [message], concurrency }
    try {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      const answer = await fetch(api, init)
      if (!answer.ok) throw new Error(`The message was refused (${answer.status})`)
      // Its own answer is read once it is its turn.
      await answer.body?.cancel()
    } catch (error) {
      setWaiting(before => before.filter(({ id }) => id !== message.id))
      setStopProblem(wordsOf(error))
    }
  }

  const stillWaiting = waitingIn(messages.at(-1), waiting)
  return (
    <section className="chat" aria-label={place.name}>
      <div className="messages">
        <div role="log" aria-label="Messages" aria-live="polite" aria-busy={isBusy}>
          {messages.length === 0 && (
            <p className="hint">
              <strong>{place.name}</strong>
              {description && `: ${description}`}
            </p>
          )}
          {messages.map((message, index) => (
            <Message
              key={message.id}
              message={message}
              isBusy={isBusy}
              isLast={index === messages.length - 1}
              onEdit={text => {
                const files = message.parts.filter(part => part.type === 'file')
                void chat.sendMessage({ text, files, messageId: message.id })
              }}
              onRegenerate={() => chat.regenerate({ messageId: message.id })}
              onDecide={decision => chat.addToolApprovalResponse(decision)}
              onAnswer={(toolCallId, output) => chat.addToolOutput({ tool: 'question', toolCallId, output })}
            />
          ))}
          {status === 'submitted' && <p role="status">Thinking…</p>}
          {stillWaiting.map(({ id, text }) => (
            <p key={id} className="hint">
              Waits: {text}
            </p>
          ))}
        </div>
      </div>
      {error !== undefined && (
        <p role="alert">
          {error.message}{' '}
          <button type="button" onClick={() => chat.regenerate()}>
            Try again
          </button>{' '}
          <button type="button" onClick={onLost}>
            Load the chat again
          </button>
        </p>
      )}
      {stopProblem !== undefined && <p role="alert">{stopProblem}</p>}
      <Composer isBusy={isBusy} onSend={message => chat.sendMessage(message)} onMore={more} onStop={stop} />
    </section>
  )
}

/** A message that was sent while an answer was at work. */
interface Waiting {
  readonly id: string
  readonly text: string
}

/** Those that the answer has not taken. */
const waitingIn = (answer: Told | undefined, waiting: readonly Waiting[]) =>
  waiting.filter(
    ({ id }) => !answer?.parts.some(part => part.type === 'data-steered' && part.data.messageId === id),
  )

/** The service remembers what was said, so it is sent the newest message, with the question and answer before it. */
const transportTo = (api: string) =>
  new DefaultChatTransport<Told>({
    api,
    async prepareSendMessagesRequest({ id, trigger, messageId, messages }) {
      const before = messages.slice(-3, -1)
      const newest = await Promise.all(messages.slice(-1).map(withFiles))
      return { body: { id, trigger, messageId, messages: [...before, ...newest] } }
    },
  })

async function withFiles(message: Told): Promise<Told> {
  if (message.role !== 'user') return message
  const parts = message.parts.map(part => (part.type === 'file' ? attached(part) : part))
  return { ...message, parts: await Promise.all(parts) }
}

/** Whether an approval is still to be decided. */
const isAsked = ({ messages }: { messages: readonly Told[] }) =>
  messages.at(-1)?.parts.some(part => 'state' in part && part.state === 'approval-requested') === true
