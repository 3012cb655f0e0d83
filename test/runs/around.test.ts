import { expect, it } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import { startRun } from '../../src/runs/run.ts'
import { type RunMiddleware, runMiddlewareOf } from '../../src/runs/run-middleware.ts'
import { eventually } from '../eventually.ts'
import { drain, never, untimed } from '../support.ts'

const settings = { production: false, timeoutMs: 60_000, maxEvents: 1000, maxLength: 1e6 }

/** Says its input, and waits for ever where it is asked to. */
const servable = (signals: AbortSignal[] = []) => ({
  async *stream(input: unknown, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    if (signal) signals.push(signal)
    yield { type: 'text', text: String(input) }
    if (input === 'wait') await never()
  },
})

/** Asks with a letter more, and adds one to each text that comes. */
const adding = (letter: string): RunMiddleware =>
  async function* (run, next) {
    const events = next({ ...run, input: `${run.input}${letter}` })
    for (let item = await events.next(); !item.done; item = await events.next()) {
      const event = item.value
      yield event.type === 'text' ? { ...event, text: `${event.text}${letter.toUpperCase()}` } : event
    }
  }

const start = (input: string, arounds: readonly RunMiddleware[], signals?: AbortSignal[]) => {
  const target = { kind: 'agent', name: 'tested', servable: servable(signals) } as const
  return startRun(target, input, {}, { ...settings, runMiddleware: runMiddlewareOf(arounds) })
}

it('puts each around the next one: the first asks first, and sees events last', async () => {
  const events = (await drain(start('x', [adding('a'), adding('b')]))).map(untimed)
  expect(events).toEqual([
    { type: 'text', text: 'xabBA' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

it('is nothing without any', async () => {
  expect(runMiddlewareOf([])).toBeUndefined()
  expect((await start('x', []).result()).text).toBe('x')
})

it('fails the run with what it throws, also in place of the servable', async () => {
  const signals: AbortSignal[] = []
  const throwing: RunMiddleware = () => {
    throw new Error('not now')
  }
  const events = (await drain(start('x', [throwing], signals))).map(untimed)
  expect(events).toEqual([{ type: 'error', code: 'agent_failed', error: 'not now' }])
  expect(signals).toEqual([])
})

it('leaves the signal to the run: it fires where the reader leaves', async () => {
  const signals: AbortSignal[] = []
  const run = start('wait', [adding('')], signals)
  await run.next()
  await run.return()
  await eventually(() => expect(signals[0]?.aborted).toBe(true))
})
