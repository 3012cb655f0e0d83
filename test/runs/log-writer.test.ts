import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import type { Run } from '../../src/runs/run.ts'
import { writeLog } from '../../src/runs/stored/log-writer.ts'
import { createWatch } from '../../src/runs/stored/watch.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const GATHER_MS = 50

/** A writer, and what its run says when the test has it say it. */
function writing(gatherMs?: number, isJournalled = false) {
  const store = memoryStore()
  const transact = vi.spyOn(store, 'write')
  let tell: ((event: RunEvent | undefined) => boolean) | undefined
  const run = {
    id: 'run',
    durationMs: 0,
    read(take: typeof tell) {
      tell = take
    },
    fail: vi.fn(),
    cancel: vi.fn(),
  }
  const writer = writeLog(run as unknown as Run, {
    store,
    log: 'run',
    watch: createWatch(1),
    working: undefined,
    onStuck() {},
    maxBytes: 1000,
    maxLength: 1000,
    gatherMs,
    ...(isJournalled && { isOurs: () => true }),
    encode: event => (event.type === 'text' ? [event.text] : event.type === 'finish' ? [] : [event.type]),
    finish: tx => void tx.append('run', 'end', true),
  })
  return {
    tell: (event: RunEvent) => tell?.(event),
    record: (mayWait = false) => writer.keep(tx => tx.append('run', 'record') !== undefined, mayWait),
    say: (text: string) => tell?.({ type: 'text', text }),
    async end() {
      tell?.({ type: 'finish', finishReason: 'stop' })
      tell?.(undefined)
      await writer.ended
    },
    isBetween: () => writer.isBetween,
    commits: () => transact.mock.calls.length,
    entries: () => {
      return store.read(tx => tx.read('run', 0, 100).map(({ data }) => data))
    },
  }
}

describe('writeLog', () => {
  it('knows whether something is at work, also where a call ends that began in the run before', () => {
    const { tell, isBetween } = writing()
    expect(isBetween()).toBe(true)
    tell({ type: 'tool_call_end', toolCallId: 'before', result: 1 })
    tell({ type: 'tool_call_start', toolCall: { id: 'c', name: 'pay' } })
    expect(isBetween()).toBe(false)
    tell({ type: 'step', name: 's', status: 'started' })
    tell({ type: 'tool_call_end', toolCallId: 'c', result: 1 })
    expect(isBetween()).toBe(false)
    tell({ type: 'step', name: 's', status: 'failed' })
    expect(isBetween()).toBe(true)
  })

  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('writes the first event at once, and what goes on to come together, so often', async () => {
    const { say, end, commits, entries } = writing(GATHER_MS)
    say('a')
    expect(entries()).toEqual(['a'])
    for (const text of ['b', 'c', 'd', 'e', 'f']) {
      await vi.advanceTimersByTimeAsync(20)
      say(text)
    }
    expect(entries()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(commits()).toBe(3)
    await end()
    expect(entries()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'end'])
    expect(commits()).toBe(4)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('writes what comes after a silence at once', async () => {
    const { say, commits, entries } = writing(GATHER_MS)
    say('a')
    await vi.advanceTimersByTimeAsync(GATHER_MS)
    expect(vi.getTimerCount()).toBe(0)
    say('b')
    expect(entries()).toEqual(['a', 'b'])
    expect(commits()).toBe(2)
  })

  it('waits for the end of the turn alone, where nothing else is said', async () => {
    const { say, entries } = writing()
    say('a')
    say('b')
    expect(entries()).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1)
    expect(entries()).toEqual(['a', 'b'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([undefined, GATHER_MS])(
    'stores the end of a call together with its record (%s)',
    async gatherMs => {
      for (const mayWait of [false, true]) {
        const { tell, record, commits, entries } = writing(gatherMs, true)
        tell({ type: 'tool_call_end', toolCallId: 'a', result: 1 })
        expect(entries()).toEqual([])
        void record(mayWait)
        await vi.advanceTimersByTimeAsync(GATHER_MS)
        expect(entries()).toEqual(['record', 'tool_call_end'])
        expect(commits()).toBe(1)
      }
    },
  )

  it('stores the end of a call that has no record soon, and at once where there is no journal', async () => {
    const { tell, entries } = writing(undefined, true)
    tell({ type: 'tool_call_end', toolCallId: 'a', result: 1 })
    await vi.advanceTimersByTimeAsync(1)
    expect(entries()).toEqual(['tool_call_end'])
    const plain = writing()
    plain.tell({ type: 'tool_call_end', toolCallId: 'a', result: 1 })
    expect(plain.entries()).toEqual(['tool_call_end'])
  })
})
