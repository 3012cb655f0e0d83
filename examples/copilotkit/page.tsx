/** A chat of CopilotKit beside the list of its threads. `?user=bob` is the other user. */
import {
  CopilotChat,
  CopilotKitProvider,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { Threads } from './threads.tsx'

const user = new URLSearchParams(location.search).get('user') ?? 'ada'
const headers = { authorization: `Bearer token-of-${user}` }

/** The thread in the address, so that a reload keeps it. */
function useThread() {
  const [threadId, setThreadId] = useState(() => location.hash.slice(1) || crypto.randomUUID())
  const open = (id: string) => {
    history.replaceState(null, '', `#${id}`)
    setThreadId(id)
  }
  if (location.hash === '') history.replaceState(null, '', `#${threadId}`)
  return [threadId, open] as const
}

function Page({ service }: { readonly service: string }) {
  const [error, setError] = useState('')
  const [threadId, open] = useThread()
  return (
    <CopilotKitProvider
      runtimeUrl="/api/copilotkit"
      agentId="desk"
      headers={headers}
      enableInspector={false}
      onError={told => setError(told.error.message)}
    >
      <div style={{ display: 'flex', height: '100vh', font: '1rem/1.5 system-ui, sans-serif' }}>
        <Threads
          agentId="desk"
          baseUrl={`${service}/api`}
          headers={headers}
          threadId={threadId}
          open={open}
        />
        <main style={{ flex: 1, display: 'flex', flexDirection: 'column', minWidth: 0 }}>
          <p role="alert">{error}</p>
          <Chat key={threadId} threadId={threadId} />
        </main>
      </div>
    </CopilotKitProvider>
  )
}

function Chat({ threadId }: { readonly threadId: string }) {
  // A tool of the page: the agent may call it.
  useFrontendTool({
    name: 'set_color',
    description: 'Sets the color of the page',
    parameters: z.object({ color: z.string() }),
    handler: async ({ color }) => {
      document.body.style.background = color
      return { color }
    },
  })
  useDefaultRenderTool({
    render: ({ name, parameters, status, result = '' }) => (
      <p data-call={name}>
        {name} {JSON.stringify(parameters)} {status} {result}
      </p>
    ),
  })
  useInterrupt({
    agentId: 'desk',
    render: ({ interrupt, resolve }) => (
      <p>
        {interrupt?.message ?? 'May the tool run?'}{' '}
        <button type="button" className="decide" onClick={() => resolve({ approved: true })}>
          Approve
        </button>{' '}
        <button type="button" className="decide" onClick={() => resolve({ approved: false, reason: 'No' })}>
          Deny
        </button>
      </p>
    ),
  })
  return <CopilotChat agentId="desk" threadId={threadId} />
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Page service={root.dataset.service ?? ''} />)
