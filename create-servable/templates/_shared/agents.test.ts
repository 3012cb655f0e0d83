import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testService } from 'servable/test'
import { assistant } from './agents.ts'

test('asks for the weather, and says it', async t => {
  const service = await testService({ serve: [assistant] })
  t.after(() => service.stop())
  const { text, toolCalls } = await service.agent('assistant').run('What is the weather in Oslo?')
  assert.equal(text, 'It is sunny in Oslo, and 18 °C.')
  assert.deepEqual(
    toolCalls?.map(({ toolName }) => toolName),
    ['forecast'],
  )
})
