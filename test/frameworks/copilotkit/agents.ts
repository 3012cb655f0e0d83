/** CopilotKit's runtime in front of the agents of the service. */
import process from 'node:process'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime, createCopilotRuntimeHandler } from '@copilotkit/runtime/v2'

const names = ['talks', 'pays', 'orders', 'paints', 'recalls', 'fails', 'waits', 'gone']
const agents = Object.fromEntries(
  names.map(name => [name, new HttpAgent({ url: `${process.env.SERVICE_URL}/api/agents/${name}/ag-ui` })]),
)

export const POST: (request: Request) => Promise<Response> = createCopilotRuntimeHandler({
  basePath: '/api/copilotkit',
  runtime: new CopilotRuntime({ agents }),
})
