/** The service of the contract of model-backed agents. The entry gets the provider's address. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { lead, ModelAgent, type ModelSource } from '../../../src/adapters/model-agent/index.ts'
import { createHandler, type Handler, type HandlerOptions, type State, Team } from '../../../src/index.ts'
import { identify } from '../identify.ts'

/** The handler of the service. Its settings are the address of the provider. `more` is what a deployment adds. */
export function handlerOn(state: State, baseURL = '', more: HandlerOptions = {}): Handler {
  const model: ModelSource = ({ apiKey = 'key-of-the-server' }) =>
    createOpenAICompatible({ name: 'provider-a', baseURL, apiKey, includeUsage: true })('model-1')
  const helper = new ModelAgent({
    name: 'helper',
    model,
    register: false,
    corrections: true,
    tools: [{ name: 'weather.forecast', execute: () => ({ sunny: true }) }],
  })
  return createHandler({
    production: true,
    registry: false,
    logger: false,
    agents: { helper },
    teams: {
      desk: new Team({ name: 'desk', register: false, members: [helper], strategy: lead({ model }) }),
    },
    state,
    middleware: [identify],
    runs: { timeoutMs: 20_000 },
    ...more,
  })
}
