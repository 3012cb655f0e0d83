import { expect, it } from 'vitest'
import { testApprovals, testShown } from '../frameworks/approvals.ts'
import { askerOf, testFramework } from '../frameworks/contract.ts'
import { testSteering } from '../frameworks/steering.ts'

const framework = testFramework('openai-agents', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'openai', tools: ['get_weather'] },
  model: 'openai/test',
  // Its client of the Responses API takes an answer that was cut for a failure.
  cut: 'error',
  // It gives a text of its own to the model in place of the error.
  toolError: 'result',
  dropped: 'agent_failed',
  quiet: true,
  thinks: true,
  remembers: true,
  structured: true,
  example: 'openai-agents.ts',
})

const { served } = framework

testSteering(framework, 'openai-agents')

testApprovals(framework, {
  together: true,
  toldOfBoth: ['refunded A', 'too much'],
  namesCall: true,
  remembers: true,
})

it('tells the same of a model behind chat completions, and why an answer ended', async () => {
  const { run, stream } = askerOf(served)
  expect(await run('chat', 'hello')).toMatchObject({ text: 'Hello, world', finishReason: 'stop' })
  expect(await run('chat', 'this is too long')).toMatchObject({ finishReason: 'length' })
  expect(await run('chat', 'forbidden')).toMatchObject({ finishReason: 'content_filter' })
  const { toolCalls } = await run('chat', 'weather in Oslo')
  expect(toolCalls).toMatchObject([{ toolName: 'get_weather', args: { city: 'Oslo' } }])
  expect((await stream('chat', 'think'))[0]).toEqual({ type: 'thinking', text: 'Let me see.' })
})

it('says what it lacks, where a tool needs an approval without `RunState`', async () => {
  const response = await askerOf(served).post('forgetful-shop/run', 'refund it')
  expect([response.status, await response.json()]).toMatchObject([500, { code: 'invalid_options' }])
})

testShown(framework, 'The tool said: refunded A', { decision: 'approve' })
