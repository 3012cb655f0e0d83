import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testService } from 'servable/test'
import { desk } from './agents/desk.ts'
import options from './servable.config.ts'

test('Eve approves what Ada asks for, and Ada cannot', async () => {
  await using service = await testService({ ...options, serve: [desk] })
  const callerOf = (token: string) => service.as({ headers: { authorization: `Bearer ${token}` } })
  const run = await callerOf('token-of-ada').team('desk').start('I return A1')
  await run.answer('returns/reason', 'It is broken')
  await assert.rejects(run.approve('refund'), /may not/)
  const eve = callerOf('token-of-eve').client
  const { approvals } = await eve.approvals.list({ whose: 'others' })
  await eve.approvals.decide(approvals[0]!, { decision: 'approve' })
  assert.equal((await run.result()).text, 'We paid 40 euros back for order A1.')
})
