/** A page of CopilotKit. `?agent` names its agent, `thread` its conversation, and `user` who asks. */
import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useCopilotKit,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

const query = new URLSearchParams(location.search)
const agentId = query.get('agent') ?? ''
const threadId = query.get('thread') ?? ''
const user = query.get('user')

function Page() {
  const [error, setError] = useState('')
  return (
    <CopilotKitProvider
      runtimeUrl="/api/copilotkit"
      agentId={agentId}
      headers={user === null ? {} : { 'x-test-user': user }}
      enableInspector={false}
      onError={told => setError(told.error.message)}
    >
      <p role="alert">{error}</p>
      <Chat />
    </CopilotKitProvider>
  )
}

function Chat() {
  const { agent } = useAgent({ agentId })
  const { copilotkit } = useCopilotKit()
  useFrontendTool({
    name: 'pick_color',
    description: 'Picks a color',
    parameters: z.object({ hue: z.string() }),
    handler: async ({ hue }) => ({ color: `${hue} red` }),
  })
  useDefaultRenderTool({
    render: ({ name, parameters, status, result = '' }) => (
      <p data-call={name}>
        {name} {JSON.stringify(parameters)} {status} {result}
      </p>
    ),
  })
  useInterrupt({
    agentId,
    render: ({ interrupts, resolve, cancel }) => (
      <>
        {interrupts.map(({ id, reason, message }) =>
          reason === 'tool_call' ? (
            <p key={id}>
              <Button name="Approve" press={() => resolve({ approved: true }, id)} />
              <Button name="Deny" press={() => resolve({ approved: false, reason: 'too much' }, id)} />
              <Button name="Cancel" press={() => cancel(id)} />
            </p>
          ) : (
            <p key={id}>
              {message} <Button name="M" press={() => resolve('M', id)} />
            </p>
          ),
        )}
      </>
    ),
  })
  const again = () => {
    const last = agent.messages.findLastIndex(({ role }) => role === 'user')
    agent.setMessages(agent.messages.slice(0, last + 1))
    return copilotkit.runAgent({ agent })
  }
  return (
    <>
      <Button name="Again" press={again} />
      <output>{JSON.stringify(agent.state)}</output>
      <CopilotChat agentId={agentId} threadId={threadId} />
    </>
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
