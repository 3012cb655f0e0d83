/** A page of `useStream`. The address has the server (`url`), the `agent`, the `line` of the SDK and, once there is one, the `thread`. */
import { type FormEvent, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { useStream as useStream12 } from 'sdk-1.12/react'
import { useStream as useStream15 } from 'sdk-1.15/react'
import type { Hook } from '../use-stream.ts'

const query = new URLSearchParams(location.search)
const useStream = (query.get('line') === 'sdk-1.12' ? useStream12 : useStream15) as unknown as (
  options: object,
) => Hook

const human = (content: string) => ({ messages: [{ type: 'human', content }] })

function Page() {
  const [text, setText] = useState('')
  const [threadId, setThreadId] = useState(query.get('thread'))
  const hook = useStream({
    apiUrl: query.get('url'),
    apiKey: 'ann',
    assistantId: query.get('agent'),
    threadId,
    fetchStateHistory: true,
    reconnectOnMount: true,
    onThreadId(id: string) {
      setThreadId(id)
      query.set('thread', id)
      history.replaceState(null, '', `?${query}`)
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    hook.submit(human(text))
    setText('')
  }
  const { messages, isLoading, interrupt, error } = hook
  const approve = () => hook.submit(undefined, { command: { resume: { decisions: [{ type: 'approve' }] } } })
  return (
    <main data-loading={isLoading}>
      <p role="alert">{error instanceof Error ? error.message : error ? String(error) : ''}</p>
      <ol>
        {messages.map((message, at) => {
          const metadata = hook.getMessagesMetadata(message, at)
          const checkpoint = metadata?.firstSeenState?.parent_checkpoint
          const others = metadata?.branchOptions?.filter(branch => branch !== metadata.branch) ?? []
          const isHuman = message.type === 'human'
          return (
            <li key={message.id ?? at} data-type={message.type}>
              <span>
                {typeof message.content === 'string' ? message.content : JSON.stringify(message.content)}
              </span>
              {checkpoint && (
                <Button
                  name={isHuman ? 'Edit' : 'Again'}
                  press={() => hook.submit(isHuman ? human(text) : undefined, { checkpoint })}
                />
              )}
              {others.map(branch => (
                <Button key={branch} name="Other" press={() => hook.setBranch(branch)} />
              ))}
            </li>
          )
        })}
      </ol>
      {interrupt !== undefined && <Button name="Approve" press={approve} />}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={event => setText(event.target.value)} />
        <button type="submit">Send</button>
        <Button name="Stop" press={() => hook.stop()} />
      </form>
    </main>
  )
}

function Button({ name, press }: { readonly name: string; readonly press: () => unknown }) {
  return (
    <button type="button" onClick={press}>
      {name}
    </button>
  )
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Page />)
