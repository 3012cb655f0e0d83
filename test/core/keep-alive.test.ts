/** A runtime that is frozen after its responses. */
import { expect, it } from 'vitest'
import { deferred } from '../../src/base/wake.ts'
import { Agent, createHandler, memoryState, platform, type RunRecord } from '../../src/index.ts'

/** A function, and the promises that keep it alive. */
function frozen() {
  const gate = deferred<void>()
  const kept: Promise<unknown>[] = []
  const handler = createHandler({
    agents: {
      echo: new Agent({ name: 'echo', register: false, run: () => 'x' }),
      gated: new Agent({
        name: 'gated',
        register: false,
        async *run() {
          yield 'before '
          await gate.promise
          yield 'after'
        },
      }),
    },
    registry: false,
    logger: false,
    state: memoryState(),
  })
  const ask = (path: string, isBackground = false) => {
    const headers = {
      'content-type': 'application/json',
      ...(isBackground && { prefer: 'respond-async' }),
    }
    const asked = new Request(`http://x/api/${path}`, { method: 'POST', body: '{"input":"x"}', headers })
    return handler(asked, platform({ keepAlive: promise => void kept.push(promise) }))
  }
  const recordOf = async (id: string) =>
    (await handler(new Request(`http://x/api/runs/${id}`))).json() as Promise<RunRecord>
  return { ask, kept, open: gate.resolve, recordOf }
}

it('is kept alive until a run in the background has ended, and its end is stored', async () => {
  const { ask, kept, open, recordOf } = frozen()
  const answer = await ask('agents/gated/run', true)
  expect(answer.status).toBe(202)
  const { id } = (await answer.json()) as RunRecord
  expect(kept).toHaveLength(1)
  expect(await Promise.race([kept[0], recordOf(id).then(({ status }) => status)])).toBe('running')
  open()
  await Promise.all(kept)
  expect(await recordOf(id)).toMatchObject({ status: 'completed' })
})

it('is kept alive no longer than the runs that were at work when it answered', async () => {
  const { ask, kept, open } = frozen()
  await ask('agents/gated/run', true)
  await ask('agents/gated/stream')
  const later = ask('agents/gated/run')
  open()
  await Promise.all([...kept, later])
  expect(kept).toHaveLength(2)
})

it('is not kept alive by a run that has ended', async () => {
  const { ask, kept } = frozen()
  await (await ask('agents/echo/run')).text()
  expect(kept).toEqual([])
})
