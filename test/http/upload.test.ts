import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createHandler, type RunEvent } from '../../src/index.ts'

/** Takes one upload at a time; its agent `waits` ends when it is told to, or is left. */
function make(timeoutMs?: number) {
  const waiting = Promise.withResolvers<void>()
  let stopped = 0
  const handler = createHandler({
    registry: false,
    logger: false,
    fileUpload: { maxConcurrent: 1 },
    ...(timeoutMs !== undefined && { runs: { timeoutMs } }),
    agents: {
      waits: {
        kind: 'agent',
        name: 'waits',
        async run() {
          await waiting.promise
          return { text: 'done' } as never
        },
        async *stream(_input: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<RunEvent> {
          yield { type: 'text', text: 'begun' }
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          stopped++
        },
      } as never,
      echo: { run: async () => ({ text: 'x' }) as never },
    },
  })
  const ask = (path: string, fields: Record<string, string> = { input: 'x' }) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return handler(new Request(`http://127.0.0.1/api/agents/${path}`, { method: 'POST', body }))
  }
  return { ask, end: waiting.resolve, stopped: () => stopped }
}

describe('the place of an upload', () => {
  it('is taken until its stream is left, and then given back', async () => {
    const { ask, stopped } = make()
    const stream = await ask('waits/stream')
    const reader = stream.body!.getReader()
    await reader.read()
    const refused = await ask('echo/run')
    expect([refused.status, (await refused.json()).code]).toEqual([429, 'rate_limited'])
    await reader.cancel()
    await vi.waitFor(() => expect(stopped()).toBe(1))
    for (let upload = 0; upload < 3; upload++) expect((await ask('echo/run')).status).toBe(200)
  })

  it('is given back by what is refused', async () => {
    const { ask } = make()
    for (let upload = 0; upload < 3; upload++) expect((await ask('echo/run', {})).status).toBe(400)
    for (let upload = 0; upload < 3; upload++) expect((await ask('nobody/run')).status).toBe(404)
    expect((await ask('echo/run')).status).toBe(200)
  })

  it('is free again in the end where its response is thrown away unread', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask } = make(5000)
    await ask('waits/stream')
    expect((await ask('echo/run')).status).toBe(429)
    vi.setSystemTime(Date.now() + 5000 + 120_000 + 1)
    expect((await ask('echo/run')).status).toBe(200)
  })
})
