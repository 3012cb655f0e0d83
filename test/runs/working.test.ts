import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { drainOf } from '../../src/http/drain.ts'
import { createHandler } from '../../src/index.ts'
import { createWorkingRuns } from '../../src/runs/stored/working.ts'
import { jsonRequest } from '../contracts/http/client.ts'

describe('createWorkingRuns', () => {
  it('drains at once where nothing is at work', async () => {
    await createWorkingRuns().drain(60_000)
  })

  it('waits for the last run to end, and cancels none that has', async () => {
    const runs = createWorkingRuns()
    const [one, other] = [{ retire: vi.fn() }, { retire: vi.fn() }]
    runs.add(one)
    runs.add(other)
    let isDrained = false
    const drained = runs.drain(60_000).then(() => {
      isDrained = true
    })
    runs.delete(one)
    await Promise.resolve()
    expect(isDrained).toBe(false)
    runs.delete(other)
    await drained
    expect(one.retire).not.toHaveBeenCalled()
    expect(other.retire).not.toHaveBeenCalled()
  })

  it('cancels what is at work after the time', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const runs = createWorkingRuns()
    const run = { retire: vi.fn(async () => runs.delete(run)) }
    runs.add(run)
    const drained = runs.drain(1000)
    await vi.advanceTimersByTimeAsync(499)
    expect(runs.isRetiring).toBe(false)
    // From half of the time on, runs leave where their work is complete.
    await vi.advanceTimersByTimeAsync(2)
    expect(runs.isRetiring).toBe(true)
    await vi.advanceTimersByTimeAsync(498)
    expect(run.retire).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2)
    await drained
    expect(run.retire).toHaveBeenCalledOnce()
  })
})

describe('a handler', () => {
  it('drains its runs, by whatever transport they came', async () => {
    const stopped = vi.fn()
    const waits = {
      async *stream(_input: unknown, { signal }: { signal?: AbortSignal } = {}) {
        signal?.addEventListener('abort', stopped)
        yield { type: 'text', text: 'begun' } as const
        await new Promise(() => {})
      },
    }
    const handler = createHandler({ agents: { waits }, registry: false })
    const ask = (path: string, headers = {}) =>
      handler(new Request(`http://127.0.0.1/api/agents/waits/${path}`, jsonRequest({ input: 'x' }, headers)))
    const reader = (await ask('stream')).body!.getReader()
    await reader.read()
    await ask('run', { prefer: 'respond-async' })
    await drainOf(handler)?.(1)
    expect(stopped).toHaveBeenCalledTimes(2)
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"finishReason":"cancelled"')
  })

  it('has none to drain where it is a function around one', () => {
    const handler = createHandler()
    expect(drainOf((request: Request) => handler(request))).toBeUndefined()
  })
})
