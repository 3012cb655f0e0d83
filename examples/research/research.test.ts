import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { testService } from 'servable/test'
import { research } from './agents.ts'

test('a crash costs the source that is being read, and no other', async () => {
  await using service = await testService({ serve: [research] }, { timeoutMs: 60_000 })
  const run = await service.workflow('research').start('tides')
  const begun = async () =>
    (await run.events()).flatMap(event =>
      event.type === 'step' && event.status === 'started' && event.name.startsWith('tides') ? event.name : [],
    )
  while ((await begun()).length < 2) await setTimeout(20)
  await service.restart()
  assert.match((await run.result()).text, /higher\./)
  const [moon, sun, bays] = ['tides-1-moon.md', 'tides-2-sun.md', 'tides-3-bays.md']
  assert.deepEqual(await begun(), [moon, sun, sun, bays])
})
