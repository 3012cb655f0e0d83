import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testService } from 'servable/test'
import { desk } from './agents.ts'

test('refunds an order after a person has approved it', async t => {
  const service = await testService({ serve: [desk] })
  t.after(() => service.stop())
  const run = await service.team('desk').start('Please refund order 7')
  await run.request('refund')
  await run.approve()
  const { text } = await run.result()
  assert.match(text, /Order 7 is refunded with 40 euros\./)
})
