/**
 * A model-backed run in a Durable Object that is ended like a crash.
 *
 * @module-tag long
 */
import { expect, it } from 'vitest'
import { calls, hangs, says, startProvider } from '../adapters/model-agent/provider.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { accept, type Deployment, ended } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { untyped } from '../support.ts'
import { startWorkerd } from './harness.ts'

it('goes on with what its model and its tool have done', async () => {
  const provider = await startProvider()
  const folder = await newFolder()
  const entry = 'test/runtimes/entries/model-workerd.ts'
  const workerd = await startWorkerd(entry, { env: { SETTINGS: provider.url }, storage: folder.path })
  const server = () => untyped<Deployment>({ url: workerd.url })
  try {
    provider.script(calls(['look', {}]), hangs('Half'))
    const { id } = await accept(server, 'agents/helper', { input: 'Look' })
    await eventually(() => expect(provider.asked).toHaveLength(2))
    provider.script(says('Seen'))
    await fetch(`${workerd.url}/crash/${id}`)
    expect(await ended(server, id)).toMatchObject({
      status: 'completed',
      result: {
        text: 'Seen',
        usage: { totalTokens: 20 },
        toolCalls: [{ toolName: 'look', result: { count: 1 } }],
      },
    })
    expect(provider.asked.map(({ body }) => body.messages.map(({ role }) => role))).toEqual([
      ['user', 'assistant', 'tool'],
    ])
    expect(provider.asked[0]?.body.messages.at(-1)?.content).toContain(`"idempotencyKey":"${id}/#`)
  } finally {
    await workerd.stop()
    await folder.remove()
    await provider.stop()
  }
})
