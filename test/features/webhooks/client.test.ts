import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { memoryState } from '../../../src/index.ts'
import { startReceiver } from '../../contracts/webhooks/receiver.ts'
import { handlerOn, SECRETS } from '../../contracts/webhooks/service.ts'
import { eventually } from '../../eventually.ts'

it('is told of a run that the client started with a webhook', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.stop())
  const handler = handlerOn(memoryState(), receiver.url)
  const client = createClient({ baseUrl: 'http://127.0.0.1/api', fetch: handler })
  const webhook = { url: `${receiver.url}/mine` }
  const { id } = await client.runs.start({ kind: 'agent', name: 'echo' }, 'Hello', { webhook })
  await eventually(() => {
    const told = receiver.payloads('/mine', SECRETS.runs)
    expect(told.map(({ type, data }) => [type, data.runId])).toEqual([['run.completed', id]])
  })
})
