import { testClientTools } from './client-tools.ts'
import { testFramework } from './contract.ts'

const framework = testFramework('mastra', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'local.chat', tools: ['get_weather'] },
  model: 'local.chat/test',
  cut: 'length',
  toolError: 'error',
  dropped: 'provider_failed',
  quiet: false,
  thinks: true,
  remembers: true,
  structured: true,
  example: 'mastra.ts',
})

testClientTools(framework)
