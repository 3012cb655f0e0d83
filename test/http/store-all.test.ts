/** The option `runs.store: 'all'`. */
import { expect, it } from 'vitest'
import { Agent, createHandler, type HandlerOptions, memoryState } from '../../src/index.ts'
import type { RunSummary } from '../../src/runs/record.ts'

function serving(runs: NonNullable<HandlerOptions['runs']>) {
  const stopped: unknown[] = []
  const handler = createHandler({
    agents: {
      echo: new Agent({ name: 'echo', register: false, run: input => String(input) }),
      endless: new Agent({
        name: 'endless',
        register: false,
        async *run(_, { signal }) {
          yield 'begun'
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          stopped.push(signal.reason)
        },
      }),
    },
    registry: false,
    logger: false,
    state: memoryState(),
    runs: { listAnonymous: true, measure: true, ...runs },
  })
  const url = 'http://127.0.0.1/api'
  const headers = { 'content-type': 'application/json' }
  const post = (path: string) =>
    handler(new Request(url + path, { method: 'POST', headers, body: '{"input":"x"}' }))
  const list = async (): Promise<readonly RunSummary[]> =>
    (await (await handler(new Request(`${url}/runs`))).json()).runs
  return { post, list, stopped }
}

it('plain runs leave nothing by default', async () => {
  const { post, list } = serving({})
  await (await post('/agents/echo/run')).text()
  expect(await list()).toEqual([])
})

it('lists have every run, with how it was asked for', async () => {
  const { post, list } = serving({ store: 'all' })
  expect(await (await post('/agents/echo/run')).json()).toMatchObject({ text: 'x', finishReason: 'stop' })
  expect(await (await post('/agents/echo/stream')).text()).toContain('"finish"')
  expect((await list()).map(({ status, transport }) => [status, transport])).toEqual([
    ['completed', 'sse'],
    ['completed', 'http'],
  ])
})

it('a run still ends when its client leaves', async () => {
  const { post, list, stopped } = serving({ store: 'all' })
  const reader = (await post('/agents/endless/stream')).body!.getReader()
  await reader.read()
  await reader.cancel()
  await expect.poll(async () => (await list()).map(({ status }) => status)).toEqual(['cancelled'])
  expect(stopped).toHaveLength(1)
})

it('runs that cannot be stored are plain', async () => {
  const handler = createHandler({
    agents: { echo: new Agent({ name: 'echo', register: false, run: input => String(input) }) },
    registry: false,
    logger: false,
    runs: { store: 'all' },
  })
  const request = new Request('http://127.0.0.1/api/agents/echo/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"input":"x"}',
  })
  // A platform whose requests share no memory.
  const { platform } = await import('../../src/http/platform.ts')
  expect(await (await handler(request, platform({ isIsolated: true }))).json()).toMatchObject({ text: 'x' })
})
