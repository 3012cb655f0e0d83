import { expect, it } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createClient } from '../../../src/client/index.ts'
import { createHandler, memoryState } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'

it('tells models of the newest corrections, and of no case', async () => {
  const model = scriptedModel(() => 'Bergen')
  const agent = new ModelAgent({ name: 'clerk', register: false, model, corrections: true })
  const handler = createHandler({
    serve: [agent],
    registry: false,
    state: memoryState(),
    middleware: [
      (_, context, next) => {
        context.identity = { id: 'ann' }
        return next()
      },
    ],
  })
  const clerk = createClient({ baseUrl: 'http://127.0.0.1/api', fetch: handler }).agent('clerk')
  await clerk.corrections.add({ originalValue: 'old', correctedValue: 'told' })
  // More than one page of cases is newer.
  for (let count = 0; count < 30; count++)
    await clerk.corrections.add({ input: 'Where?', originalValue: 'Oslo', correctedValue: 'the answer' })
  await clerk.run('Where?')
  const said = JSON.stringify(model.calls[0])
  expect(said).toContain('told')
  expect(said).not.toContain('the answer')
})
