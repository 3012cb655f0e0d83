import process from 'node:process'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLife } from '../../src/runs/life.ts'
import { createWorkingRuns } from '../../src/runs/working.ts'
import { memoryStore } from '../../src/state/memory.ts'
import type { LocalParts } from '../../src/state/state.ts'
import { eventually } from '../eventually.ts'

/** A state whose closing fails. */
function make() {
  const failure = new Error('the folder is gone')
  const state: LocalParts = {
    store: memoryStore(),
    retention: {},
    isVolatile: false,
    retain: () => () => {
      throw failure
    },
  }
  const working = createWorkingRuns()
  const onError = vi.fn()
  return { failure, working, onError, life: createLife({ state, working, flush: async () => {}, onError }) }
}

describe('the end of a life', () => {
  it('tells of a state that cannot be closed once the last run in the background has ended', async () => {
    const rejections = vi.fn()
    process.on('unhandledRejection', rejections)
    onTestFinished(() => void process.off('unhandledRejection', rejections))
    const { failure, working, onError, life } = make()
    const end = await life.begin()
    const run = { async retire() {} }
    working.add(run)
    await end()
    expect(onError).not.toHaveBeenCalled()
    working.delete(run)
    await eventually(() => expect([onError.mock.calls, rejections.mock.calls].flat(2)).toContain(failure))
    expect(rejections).not.toHaveBeenCalled()
    expect(onError).toHaveBeenCalledExactlyOnceWith(failure)
  })

  it('rejects where nothing is at work, so that whoever closes the server knows', async () => {
    const { failure, onError, life } = make()
    const end = await life.begin()
    await expect(end()).rejects.toBe(failure)
    expect(onError).not.toHaveBeenCalled()
  })
})
