import process from 'node:process'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLife } from '../../src/runs/life.ts'
import { createWorkingRuns } from '../../src/runs/stored/working.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { LocalParts } from '../../src/stores/state.ts'
import { eventually } from '../eventually.ts'

/** A state whose closing fails. */
function make(isShared = false) {
  const failure = new Error('the folder is gone')
  const state: LocalParts = {
    store: Object.assign(memoryStore(), { isShared }),
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

describe('what is to be done regularly', () => {
  const looked = async (isShared: boolean) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { life } = make(isShared)
    const look = vi.fn()
    life.regularly(look)
    const ask = async () => {
      await vi.advanceTimersByTimeAsync(1000)
      life.onRequest(false)
      life.onRequest(false)
    }
    // The first request opens the state.
    await ask()
    return { life, look, ask }
  }

  it('is done with requests where no server serves, and no more often than a server does it', async () => {
    const { look, ask } = await looked(true)
    expect(look).not.toHaveBeenCalled()
    await ask()
    expect(look).toHaveBeenCalledTimes(1)
    await ask()
    expect(look).toHaveBeenCalledTimes(2)
  })

  it('is done by the server where one serves', async () => {
    const { life, look, ask } = await looked(true)
    await life.begin()
    await ask()
    expect(look).toHaveBeenCalledTimes(1)
  })

  it('is not done where no other process may use the state', async () => {
    const { look, ask } = await looked(false)
    await ask()
    expect(look).not.toHaveBeenCalled()
  })
})
