/** Whatever call of a store fails, at whatever moment: once it works again, every run has an end and everyone is told. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunHost } from '../../src/runs/stored/host.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { RUNNING } from '../../src/runs/stored/record.ts'
import { createWorkingRuns } from '../../src/runs/stored/working.ts'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import type { NearStore } from '../../src/stores/store.ts'
import {
  begin,
  ending,
  eventsIn,
  isTerminal,
  newKey,
  read,
  rest,
  unique,
  waitFor,
} from '../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../contracts/run-host/local.ts'
import { type Act, countOf, openGate, wasStopped } from '../contracts/run-host/scripted.ts'
import { callsOf, faultyStore, outages, pass, passAMinute, storms } from '../contracts/store/faulty.ts'
import { ELSEWHERE } from '../tags.ts'

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
  vi.useRealTimers()
  expect(unhandled).toEqual([])
})

function hostOver(inner: NearStore, isFailing: (point: string) => boolean): RunHost {
  return createLocalHost({ store: faultyStore(inner, isFailing), settings: SETTINGS, retention: {} })
}

/** Everything that is done with runs, one after the other and at once. What is refused is refused. */
async function bustle(host: RunHost) {
  const ids: string[] = []
  const told: Promise<PromiseSettledResult<unknown>>[] = []
  const refused: unknown[] = []
  const owner = 'ann'
  const key = newKey()
  const one = async (acts: Parameters<typeof begin>[1], given: Parameters<typeof begin>[2] = {}) => {
    try {
      const { id } = await begin(host, acts, { owner, ...given })
      if (!ids.includes(id)) ids.push(id)
      const waiting = ending(host, id, owner).catch(error => void refused.push(error))
      const follower = await host.follow(id, owner, 0)
      told.push(settled(rest(follower)), settled(waiting))
      return id
    } catch (error) {
      refused.push(error)
      return undefined
    }
  }
  const gate = unique('gate')
  const [, , , waiting] = await Promise.all([
    one([{ say: 'a' }, { turns: 2 }, { say: 'b', times: 3 }], { key }),
    one([{ say: 'a' }, { turns: 1 }, { fail: 'on purpose' }]),
    one([{ say: 'c', times: 300 }], { isBackground: false }),
    one([{ say: 'd' }, { gate }]),
  ])
  const again = one([{ say: 'never' }], { key })
  const looks = [host.list(owner, { limit: 10 }), host.list(owner, { status: 'running', limit: 10 })]
  const cancelled = waiting && host.cancel(waiting, owner)
  const results = await Promise.allSettled([again, cancelled, ...looks])
  for (const result of results) if (result.status === 'rejected') refused.push(result.reason)
  openGate(gate)
  return { ids, refused, told: Promise.all(told) }
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise])
  return result
}

/** That all runs that began have an end which all can read, and that nothing else is there. */
async function expectAllEnded(host: RunHost, inner: NearStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expect((await host.get(id, 'ann')).status).not.toBe('running')
    const events = eventsIn(await read(host, id, 0, 'ann'))
    expect(events.filter(isTerminal)).toEqual([events.at(-1)])
  }
  const { runs } = await host.list('ann', { limit: 100 })
  expect(runs.filter(({ status }) => status === 'running')).toEqual([])
  expect(inner.read(tx => tx.count(RUNNING))).toBe(0)
}

/** How long a store is out: less than anyone's patience, that of requests, and that of runs. */
const OUTAGES_MS = [200, 3000, 40_000]

/** `step`: of the calls at which it may fail, each so many. `seeds`: so many times at random. */
function outageCases(make: () => NearStore, { step, seeds }: { step: number; seeds: number }): void {
  it.each(OUTAGES_MS)('at each call in turn, for %i ms', { timeout: 300_000 }, async ms => {
    vi.useFakeTimers()
    const all = outages()
    const { told } = await pass(bustle(hostOver(make(), all.failing)))
    await pass(told)
    expect(all.count).toBeGreaterThan(100)
    for (const at of callsOf(all.count, ms, step)) {
      const inner = make()
      const outage = outages()
      const host = hostOver(inner, outage.failing)
      outage.begin(at, () => void setTimeout(outage.end, ms))
      const { ids, refused, told } = await pass(bustle(host))
      // Without patience there is a refusal; with it nobody notices.
      const ends = await pass(told)
      if (ms < 1000) expect(refused).toEqual([])
      // Whoever follows a run already has more of it.
      if (ms < 15_000) expect(ends.filter(({ status }) => status === 'rejected')).toEqual([])
      await passAMinute()
      await pass(expectAllEnded(host, inner, ids))
    }
  })

  it('at random, again and again', { timeout: 300_000 }, async () => {
    vi.useFakeTimers()
    for (let seed = 1; seed <= seeds; seed++) {
      const inner = make()
      const storm = storms(seed)
      const host = hostOver(inner, storm.failing)
      const { ids, told } = await pass(bustle(host))
      storm.end()
      await pass(told)
      await passAMinute()
      await pass(expectAllEnded(host, inner, ids))
    }
  })

  it('while a host looks for the first time for what a dead one left: it looks again', async () => {
    vi.useFakeTimers()
    const inner = make()
    const before = createLocalHost({ store: inner, settings: SETTINGS, retention: {} })
    const { id } = await begin(before, [{ say: 'a' }, { gate: unique('never') }], { owner: 'ann' })
    let isOut = true
    const after = createLocalHost({
      store: faultyStore(reopened(inner), () => isOut),
      settings: SETTINGS,
      retention: {},
    })
    await expect(pass(after.get(id, 'ann'))).rejects.toMatchObject({ code: 'state_unavailable' })
    isOut = false
    expect(await pass(after.get(id, 'ann'))).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
    })
  })
}

describe('stored runs over a store that fails: memory', () =>
  outageCases(() => memoryStore(), { step: 5, seeds: 60 }))

// Whoever asks a store is the same code for both.
describe('stored runs over a store that fails: SQLite', ELSEWHERE, () => {
  outageCases(() => sqlStore(openDatabase(':memory:')), { step: 25, seeds: 20 })
})

describe('a run over a store that fails', () => {
  it('goes on for as long as it has patience, and says nothing twice', async () => {
    vi.useFakeTimers()
    let isOut = false
    const host = hostOver(memoryStore(), () => isOut)
    const gate = unique('gate')
    const { id } = await pass(begin(host, [{ say: 'a' }, { gate }, { say: 'b', times: 1000 }]))
    isOut = true
    openGate(gate)
    await vi.advanceTimersByTimeAsync(8_000)
    expect(wasStopped(id)).toBe(false)
    isOut = false
    expect((await pass(ending(host, id))).result?.text).toBe(`a${'b'.repeat(1000)}`)
  })

  it('is stopped after that; whoever cancels it meanwhile hears why that cannot be kept', async () => {
    vi.useFakeTimers()
    let isOut = false
    const onFailure = vi.fn()
    const store = faultyStore(memoryStore(), () => isOut)
    const host = createLocalHost({ store, settings: { ...SETTINGS, onFailure }, retention: {} })
    const gate = unique('gate')
    const acts = [{ say: 'a' }, { gate }, { say: 'b' }, { gate: unique('never') }]
    const { id } = await pass(begin(host, acts))
    const follower = await host.follow(id, null, 0)
    const all = rest(follower)
    openGate(gate)
    isOut = true
    await vi.advanceTimersByTimeAsync(30_000)
    expect(wasStopped(id)).toBe(true)
    await expect(pass(host.cancel(id, null))).rejects.toMatchObject({ code: 'state_unavailable' })
    expect(onFailure.mock.calls.map(([{ event }]) => event)).toContain('run.not_stored')
    isOut = false
    await vi.advanceTimersByTimeAsync(2000)
    expect(await pass(host.get(id, null))).toMatchObject({
      status: 'failed',
      error: { code: 'state_unavailable' },
    })
    expect(eventsIn(await all).at(-1)).toMatchObject({ type: 'error', code: 'state_unavailable' })
    expect(eventsIn(await read(host, id)).map(({ type }) => type)).toEqual(['text', 'text', 'error'])
  })

  it('is cancelled in time, though something that it said waits to be written', async () => {
    vi.useFakeTimers()
    let isOut = false
    const host = hostOver(memoryStore(), point => isOut && point === 'begin')
    const gate = unique('gate')
    const { id } = await pass(begin(host, [{ say: 'a' }, { gate }, { say: 'b' }, { gate: unique('never') }]))
    isOut = true
    openGate(gate)
    await vi.advanceTimersByTimeAsync(100)
    const startedAt = Date.now()
    await expect(pass(host.cancel(id, null))).rejects.toMatchObject({ code: 'state_unavailable' })
    // On a clock that the test sets.
    expect(Date.now() - startedAt).toBeLessThan(3000)
    isOut = false
    expect((await pass(ending(host, id))).status).toBe('cancelled')
  })

  /** A run at work whose store cannot be written once it is told so, and what a server that closes waits for. */
  async function closing(after: readonly Act[]) {
    let isOut = false
    const working = createWorkingRuns()
    const store = faultyStore(memoryStore(), point => isOut && point === 'begin')
    const host = createLocalHost({ store, settings: { ...SETTINGS, working }, retention: {} })
    const gate = unique('gate')
    const { id } = await pass(begin(host, [{ say: 'a' }, { gate }, ...after]))
    const waiting = settled(ending(host, id))
    isOut = true
    openGate(gate)
    const kept = vi.fn()
    return {
      host,
      id,
      waiting,
      kept,
      close: () => void working.kept().then(kept),
      mend() {
        isOut = false
      },
    }
  }

  it('tells whoever waits for it that its end cannot be stored', async () => {
    vi.useFakeTimers()
    const { host, id, waiting, kept, close, mend } = await closing([])
    expect(await pass(waiting)).toMatchObject({ reason: { code: 'state_unavailable' } })
    // A server that closes waits for it, as long as it may.
    close()
    await vi.advanceTimersByTimeAsync(1500)
    expect(kept).not.toHaveBeenCalled()
    mend()
    expect((await pass(ending(host, id))).status).toBe('completed')
    await vi.advanceTimersByTimeAsync(0)
    expect(kept).toHaveBeenCalledOnce()
  })

  it('is waited for from its end on, also while what it said last is written', async () => {
    vi.useFakeTimers()
    const { waiting, kept, close, mend } = await closing([{ say: 'b' }])
    await vi.advanceTimersByTimeAsync(50)
    close()
    await vi.advanceTimersByTimeAsync(300)
    expect(kept).not.toHaveBeenCalled()
    mend()
    expect(await pass(waiting)).toMatchObject({ value: { status: 'completed' } })
    await vi.advanceTimersByTimeAsync(0)
    expect(kept).toHaveBeenCalledOnce()
  })

  it('is not read faster than it can be written', async () => {
    let isOut = false
    const host = hostOver(memoryStore(), () => isOut)
    const gate = unique('gate')
    const done = unique('done')
    const acts = [{ say: 'a' }, { gate }, { say: 'b', times: 5000 }, { count: done }]
    const { id } = await begin(host, acts)
    isOut = true
    openGate(gate)
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(countOf(done)).toBe(0)
    isOut = false
    await waitFor(() => countOf(done) === 1)
    expect((await ending(host, id)).result?.text).toHaveLength(5001)
  })
})
