import { testFramework } from './contract.ts'

testFramework('langgraph', {
  listed: { description: 'Tells the weather', tools: ['get_weather'] },
  // The stream of messages does not tell why one ended.
  cut: 'stop',
  toolError: 'error',
  dropped: 'agent_failed',
  thinks: false,
  remembers: true,
  structured: true,
  example: 'langgraph.ts',
})
