/** The threads of the user: the sessions of the service. */
import { useAgent } from '@copilotkit/react-core/v2'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { createClient, type SessionSummary } from 'servable/client'

export interface ThreadsProps {
  readonly agentId: string
  /** The address of the service's routes. */
  readonly baseUrl: string
  readonly headers: Record<string, string>
  readonly threadId: string
  open(threadId: string): void
}

export function Threads({ agentId, baseUrl, headers, threadId, open }: ThreadsProps) {
  const { agent } = useAgent({ agentId })
  const { sessions } = useMemo(() => createClient({ baseUrl, headers }), [baseUrl, headers])
  const [threads, setThreads] = useState<readonly SessionSummary[]>([])
  const load = useCallback(async () => {
    const page = await sessions.list({ kind: 'agent', name: agentId })
    setThreads(page.sessions)
  }, [sessions, agentId])
  useEffect(() => {
    void load()
    // A run that begins or ends changes the list.
    const onChange = () => void load()
    return agent.subscribe({ onRunStartedEvent: onChange, onRunFinalized: onChange }).unsubscribe
  }, [agent, load])

  const rename = async ({ id, title }: SessionSummary) => {
    const name = prompt('The new title', title ?? '')
    if (name) await sessions.rename(agentId, id, name).then(load)
  }
  const remove = async ({ id }: SessionSummary) => {
    await sessions.delete(agentId, id)
    await load()
    if (id === threadId) open(crypto.randomUUID())
  }

  return (
    <nav aria-label="Threads" style={{ width: '18rem', padding: '1rem', overflow: 'auto' }}>
      <button type="button" onClick={() => open(crypto.randomUUID())}>
        New thread
      </button>
      <ul style={{ listStyle: 'none', padding: 0 }}>
        {threads.map(thread => (
          <li key={thread.id}>
            <button type="button" aria-current={thread.id === threadId} onClick={() => open(thread.id)}>
              {thread.title ?? thread.id}
            </button>{' '}
            <button type="button" aria-label={`Rename ${thread.title}`} onClick={() => rename(thread)}>
              ✎
            </button>{' '}
            <button type="button" aria-label={`Delete ${thread.title}`} onClick={() => remove(thread)}>
              ✕
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}
