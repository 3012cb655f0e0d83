/** What plugins put with an end leaves a local store by itself, from the first write to the end of the last server. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keeping, memoryState, type Plugin } from '../../src/core-entry.ts'
import { beginLife } from '../../src/runs/life.ts'
import { served } from './kit.ts'

const MINUTE = 60_000

const notes = keeping({
  writes: {
    put: (kept, id: string, inMs: number) => kept.put('notes', id, id, { expiresAt: Date.now() + inMs }),
  },
})

/** A service with a plugin that keeps notes. */
function make(state = memoryState()) {
  let calls: ReturnType<typeof notes.calls> | undefined
  const plugin: Plugin = {
    name: 'notes',
    kept: notes,
    mount(core) {
      calls = core.calls(notes)
      return {}
    },
  }
  const { handler, logged } = served([plugin], { state })
  const left = () => state.store.read(tx => tx.count('plugin:notes'))
  return { state, handler, logged, left, put: (id: string, inMs: number) => calls?.put('a', id, inMs) }
}

/** Ends a server, which lets timers run. */
async function close(end: (() => Promise<void>) | undefined): Promise<void> {
  const ended = end?.()
  await vi.advanceTimersByTimeAsync(1000)
  await ended
}

describe('a document with an end', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('leaves the store though nothing else is written', async () => {
    const { put, left } = make()
    await put('soon', 1000)
    await put('late', 10 * MINUTE)
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(left()).toBe(1)
    await vi.advanceTimersByTimeAsync(9 * MINUTE + 100)
    expect([left(), vi.getTimerCount()]).toEqual([0, 0])
  })

  it('leaves where a service begins that finds it', async () => {
    const { state, put } = make()
    await put('old', 1000)
    vi.clearAllTimers()
    const { handler, left } = make(state)
    const end = await beginLife(handler)
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(left()).toBe(0)
    await close(end)
  })

  it('is left alone once the last server has ended', async () => {
    const { put, handler, left } = make()
    const ends = await Promise.all([beginLife(handler), beginLife(handler)])
    await close(ends[0])
    await put('a', 0)
    expect(vi.getTimerCount()).toBe(1)
    await close(ends[1])
    expect(vi.getTimerCount()).toBe(0)
    await put('b', 0)
    await vi.advanceTimersByTimeAsync(5 * MINUTE)
    expect(left()).toBe(2)
  })

  it('stays where the store throws, which is logged, and leaves later', async () => {
    const state = memoryState()
    const { read } = state.store
    const { put, logged, left } = make(state)
    await put('a', 0)
    state.store.read = () => {
      throw new Error('no disk')
    }
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(logged).toMatchObject([{ event: 'state.failed' }])
    state.store.read = read
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(left()).toBe(0)
  })
})
