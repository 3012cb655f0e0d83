import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testService } from 'servable/test'
import { research } from './agents.ts'

test('a crash costs no source twice', async () => {
  await using service = await testService({ serve: [research] })
  const run = await service.workflow('research').start('tides')
  await service.advance(6_000)
  await service.restart()
  await service.advance(60_000)
  assert.match((await run.result()).text, /16 metres|Bay|bay/)
})
