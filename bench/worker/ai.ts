// The same with model-backed agents, without a provider's package.
import { ModelAgent } from '../../src/adapters/model-agent/index.ts'
import app, { ServableGateway, ServableIndex, ServableMetrics, ServableRun } from './index.ts'

export const agent: ModelAgent = new ModelAgent({ name: 'helper', model: 'provider/model-1' })
export { ServableGateway, ServableIndex, ServableMetrics, ServableRun }
export default app
