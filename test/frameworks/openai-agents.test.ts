import { testFramework } from './contract.ts'

testFramework('openai-agents', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'openai', tools: ['get_weather'] },
  // Its client of the Responses API takes an answer that was cut for a failure.
  cut: 'error',
  // It gives a text of its own to the model in place of the error.
  toolError: 'result',
  dropped: 'agent_failed',
  thinks: true,
  remembers: true,
  structured: true,
  example: 'openai-agents.ts',
})
