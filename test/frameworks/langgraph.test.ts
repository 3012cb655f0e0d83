import { expect, it } from 'vitest'
import { askerOf, testFramework } from './contract.ts'

const { served } = testFramework('langgraph', {
  listed: { description: 'Tells the weather', tools: ['get_weather'] },
  // The stream of messages does not tell why one ended.
  model: 'openai/test',
  // Its model's own reason comes with no chunk of this provider; its stream says nothing of when a call began.
  untold: ['finishReason', 'durationMs'],
  cut: 'stop',
  toolError: 'error',
  dropped: 'agent_failed',
  quiet: true,
  thinks: false,
  remembers: true,
  structured: true,
  example: 'langgraph.ts',
})

it('asks what an interrupt asks, and goes on with the next input of the session', async () => {
  const { run } = askerOf(served)
  const session = { sessionId: 'asked' }
  const asked = await run('asking', 'delete it', session)
  expect(asked).toMatchObject({ text: 'Shall I?', finishReason: 'input_required' })
  const answered = await run('asking', 'yes', session)
  expect(answered).toMatchObject({ text: 'You answered yes', finishReason: 'stop' })
  expect(await run('asking', 'delete it')).toMatchObject({ finishReason: 'input_required' })
})

it('tells what a graph inside the graph does', async () => {
  const { text, toolCalls } = await askerOf(served).run('nested', 'weather in Oslo')
  expect(text).toMatch(/^The tool said: .*Oslo/)
  expect(toolCalls).toMatchObject([{ toolName: 'get_weather', args: { city: 'Oslo' } }])
})
