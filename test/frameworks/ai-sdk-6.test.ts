import { testApprovals } from './approvals.ts'
import { testFramework } from './contract.ts'

const framework = testFramework('ai-sdk-6', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'local.chat', tools: ['get_weather'] },
  model: 'local.chat/test',
  cut: 'length',
  toolError: 'error',
  dropped: 'provider_failed',
  quiet: true,
  thinks: true,
  remembers: false,
  structured: true,
})

testApprovals(framework, {
  together: true,
  toldOfBoth: ['refunded A', 'too much'],
  namesCall: true,
  remembers: false,
})
