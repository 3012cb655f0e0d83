/** A page with the hooks of CopilotKit's first version. `?agent` names its agent. */
import { CopilotKit, useCopilotAction, useLangGraphInterrupt } from '@copilotkit/react-core'
import { CopilotChat } from '@copilotkit/react-core/v2'
import { createRoot } from 'react-dom/client'

const agentId = new URLSearchParams(location.search).get('agent') ?? ''

function Chat() {
  useCopilotAction({
    name: 'pick_color',
    description: 'Picks a color',
    parameters: [{ name: 'hue', type: 'string' }],
    handler: async ({ hue }) => ({ color: `${hue} blue` }),
  })
  useLangGraphInterrupt({
    agentId,
    render: ({ resolve }) => (
      <button type="button" onClick={() => resolve('{"approved":true}')}>
        Approve
      </button>
    ),
  })
  return <CopilotChat agentId={agentId} />
}

const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <CopilotKit runtimeUrl="/api/copilotkit" agent={agentId} enableInspector={false}>
      <Chat />
    </CopilotKit>,
  )
}
