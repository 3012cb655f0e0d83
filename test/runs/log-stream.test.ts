import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../../src/base/wake.ts'
import type { Follower } from '../../src/runs/stored/host.ts'
import { followerOf, streamOf } from '../../src/runs/stored/log-stream.ts'
import type { StoredLogEntry } from '../../src/stores/store.ts'
import { eventually } from '../eventually.ts'

/** Gives batches, then what `end` gives. */
function follower(batches: StoredLogEntry[][], end: () => Promise<undefined> = async () => undefined) {
  const leave = vi.fn()
  const each: Follower = { next: async () => batches.shift() ?? end(), ready: () => [], leave }
  return { each, leave }
}

async function readAll(source: Follower): Promise<StoredLogEntry[]> {
  const read: StoredLogEntry[] = []
  for (let batch = await source.next(); batch !== undefined; batch = await source.next()) read.push(...batch)
  return read
}

/** The same bytes, cut at other places. */
function cutInto(size: number): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(bytes, controller) {
      for (let from = 0; from < bytes.length; from += size)
        controller.enqueue(bytes.subarray(from, from + size))
    },
  })
}

describe('a log as a stream', () => {
  it('is read as it was, whatever it holds and wherever its bytes are cut', async () => {
    const entry = fc.record({
      seq: fc.integer({ min: 1 }),
      data: fc.jsonValue().map(value => JSON.stringify(value)),
    })
    const batch = fc.array(entry, { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(fc.array(batch), fc.integer({ min: 1, max: 9 }), async (batches, size) => {
        const bytes = streamOf(follower([...batches]).each)
        expect(await readAll(followerOf(bytes.pipeThrough(cutInto(size))))).toEqual(batches.flat())
      }),
    )
  })

  it('tells the follower that its reader has left', async () => {
    const { each, leave } = follower([[{ seq: 1, data: '1' }]], () => new Promise(() => {}))
    const reader = followerOf(streamOf(each))
    await reader.next()
    expect(reader.ready()).toEqual([])
    reader.leave()
    await eventually(() => expect(leave).toHaveBeenCalledOnce())
  })

  it('writes empty lines while nothing comes, which are no entries, and none after it failed', async () => {
    vi.useFakeTimers()
    try {
      const nothing = deferred<undefined>()
      const { each } = follower([], () => nothing.promise)
      const stream = streamOf(each)
      const reader = stream.getReader()
      const line = reader.read()
      await vi.advanceTimersByTimeAsync(5000)
      expect(new TextDecoder().decode((await line).value)).toBe('\n')
      const next = reader.read()
      nothing.reject(new Error('the store is gone'))
      await expect(next).rejects.toThrow('the store is gone')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
