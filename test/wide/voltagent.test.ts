import { testApprovals, testShown } from '../frameworks/approvals.ts'
import { testFramework } from '../frameworks/contract.ts'

const framework = testFramework('voltagent', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'local.chat', tools: ['get_weather'] },
  model: 'local.chat/test',
  cut: 'length',
  toolError: 'error',
  dropped: 'provider_failed',
  quiet: false,
  thinks: true,
  remembers: true,
  structured: false,
})

testApprovals(framework, {
  together: true,
  toldOfBoth: ['refunded A', 'too much'],
  namesCall: true,
  remembers: true,
})

testShown(framework, 'The tool said: refunded A', { decision: 'approve' })
