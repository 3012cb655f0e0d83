import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunHost } from '../../src/runs/stored/host.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { WAITING } from '../../src/runs/waiting/waiting.ts'
import { Alarm } from '../../src/stores/alarm.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Retention } from '../../src/stores/state.ts'
import type { Store } from '../../src/stores/store.ts'
import { answer, goOn, kept } from '../contracts/run-host/answering.ts'
import { begin, ending, newKey, unique } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { countOf } from '../contracts/run-host/scripted.ts'
import { eventually } from '../eventually.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A host and its store; a day for each run, unless `retention` says otherwise. */
function make(retention: Retention = {}, store: Store = memoryStore()): { host: RunHost; store: Store } {
  const alarm = new Alarm(store, error => expect.unreachable(String(error)))
  return { store, host: createLocalHost({ store, settings: { ...SETTINGS, alarm }, retention }) }
}

async function runs(
  host: RunHost,
  count: number,
  given: Parameters<typeof begin>[2] = {},
): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { id } = await begin(host, [{ say: 'hi' }], given)
    await ending(host, id)
    ids.push(id)
    later(1)
  }
  return ids
}

const later = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** What is past the count leaves when a run starts, and what has expired when one ends: a minute after the last time at the least. */
async function sweepNow(host: RunHost): Promise<void> {
  later(MINUTE)
  await runs(host, 1)
}

const isKept = (host: RunHost, id: string) =>
  host.get(id, null).then(
    () => true,
    () => false,
  )

const keptOf = async (host: RunHost, ids: readonly string[]) => {
  const kept = await Promise.all(ids.map(id => isKept(host, id)))
  return ids.filter((_, index) => kept[index])
}

describe('sweep', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('keeps a run until its time has come, and then leaves nothing of it', async () => {
    const { host, store } = make()
    const [id = ''] = await runs(host, 1)
    later(DAY - 2 * MINUTE)
    await sweepNow(host)
    expect(await isKept(host, id)).toBe(true)
    later(2 * MINUTE)
    await sweepNow(host)
    expect(await isKept(host, id)).toBe(false)
    const rest = () =>
      store.read(tx => [tx.get('run', id), tx.get('result', id), tx.read(id, 0, 10), tx.isSealed(id)])
    await eventually(async () => expect(await rest()).toEqual([undefined, undefined, [], false]))
  })

  it('keeps no run for longer than the state does', async () => {
    const { host } = make({ maxAgeMs: HOUR })
    const [id = ''] = await runs(host, 1)
    later(HOUR)
    await sweepNow(host)
    expect(await isKept(host, id)).toBe(false)
  })

  it('counts from the end of a run, not from its start', async () => {
    const { host } = make({ maxAgeMs: HOUR })
    const { id } = await begin(host, [{ gate: unique('never') }])
    later(2 * HOUR)
    await sweepNow(host)
    expect((await host.get(id, null)).status).toBe('running')
    await host.cancel(id, null)
    later(HOUR - 2 * MINUTE)
    await sweepNow(host)
    expect(await isKept(host, id)).toBe(true)
    later(2 * MINUTE)
    await sweepNow(host)
    expect(await isKept(host, id)).toBe(false)
  })

  it('lets the oldest ended runs go past the count', async () => {
    const { host } = make({ maxRuns: 5 })
    const { id: running } = await begin(host, [{ gate: unique('never') }])
    const ids = await runs(host, 8)
    expect(await keptOf(host, ids)).toEqual(ids)
    await sweepNow(host)
    expect(await keptOf(host, ids)).toEqual(ids.slice(3))
    expect((await host.cancel(running, null)).status).toBe('cancelled')
  })

  it('does not wait for the minute where many runs begin', async () => {
    const { host } = make({ maxRuns: 5 })
    const ids = await runs(host, 350)
    expect((await keptOf(host, ids)).length).toBeLessThan(5 + 100)
    const { host: aging } = make({ maxAgeMs: 50 })
    const short = await runs(aging, 350)
    expect((await keptOf(aging, short)).length).toBeLessThan(50 + 100)
  })

  it('keeps a run with a key for an hour, whatever the count', async () => {
    const { host } = make({ maxRuns: 1 })
    const key = newKey()
    const [keyed = ''] = await runs(host, 1, { key })
    const ids = await runs(host, 3)
    await sweepNow(host)
    expect(await keptOf(host, [keyed, ...ids])).toEqual([keyed])
    expect((await begin(host, [], { key })).id).toBe(keyed)
    later(HOUR)
    await runs(host, 2)
    await sweepNow(host)
    expect(await isKept(host, keyed)).toBe(false)
    expect((await begin(host, [], { key })).id).not.toBe(keyed)
  })

  it('frees a key with its run', async () => {
    const { host } = make()
    const key = newKey()
    const [first] = await runs(host, 1, { key })
    later(DAY)
    const other = await begin(host, [{ say: 'other' }], { key: { ...key, fingerprint: 'other' } })
    expect(other.id).not.toBe(first)
    expect((await ending(host, other.id)).result?.text).toBe('other')
  })

  it('never gives a run whose time has come for its key', async () => {
    const { host } = make({ maxAgeMs: 1000 })
    const key = newKey()
    const [first] = await runs(host, 1, { key })
    later(2000)
    expect((await begin(host, [], { key })).id).not.toBe(first)
  })

  it('comes a minute after the one before at the least', async () => {
    const { host } = make({ maxRuns: 1 })
    const ids = await runs(host, 4)
    expect(await keptOf(host, ids)).toEqual(ids)
    await sweepNow(host)
    expect(await keptOf(host, ids)).toEqual(ids.slice(3))
  })
})

describe('what a run waits for', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is deleted with its run, and no answer finds it', async () => {
    const { host, store } = make()
    const id = await kept(host, [{ ask: ['a'] }])
    const isWaiting = async () => (await store.read(tx => tx.get(WAITING, id))) !== undefined
    later(DAY - MINUTE)
    expect(await isWaiting()).toBe(true)
    later(2 * MINUTE)
    await expect(answer(host, id, { a: 1 })).rejects.toMatchObject({ code: 'run_not_found' })
    await sweepNow(host)
    await eventually(async () => expect(await isWaiting()).toBe(false))
  })

  it('is swept where no stored run ever starts', async () => {
    const { host, store } = make({ maxRuns: 5 })
    for (let round = 0; round < 20; round++) {
      await kept(host, [{ ask: ['a'] }])
      later(MINUTE)
    }
    expect(await store.read(tx => [tx.count('run'), tx.count(WAITING)])).toEqual([6, 6])
  })

  it('does not start again a run that went on and is gone', async () => {
    const { host } = make({ maxRuns: 1 })
    const acts = [{ ask: ['a'] }]
    // A run of a key stays for an hour, whatever comes after it.
    const { id } = await begin(host, acts, { key: newKey() })
    await ending(host, id)
    const { next } = await answer(host, id, { a: 1 })
    await goOn(host, await answer(host, id, { a: 1 }))
    await ending(host, next?.id ?? '')
    await runs(host, 2)
    await sweepNow(host)
    expect([await isKept(host, id), await isKept(host, next?.id ?? '')]).toEqual([true, false])
    await expect(answer(host, id, { a: 1 })).rejects.toMatchObject({ code: 'run_ended' })
  })

  it('leaves a full store before what went on from it', async () => {
    const { host } = make({}, memoryStore(100_000))
    const count = unique('count')
    const { id } = await begin(host, [{ ask: ['a'] }, { count }], { key: newKey() })
    await ending(host, id)
    const { id: next } = await goOn(host, await answer(host, id, { a: 1 }))
    await ending(host, next)
    let isThere = true
    while (isThere) {
      await runs(host, 1, { key: newKey() })
      isThere = await isKept(host, id)
      // Whoever answers again finds what went on, or nothing to answer.
      if (isThere)
        expect(await goOn(host, await answer(host, id, { a: 1 }))).toMatchObject({ status: 'completed' })
    }
    expect(countOf(count)).toBe(1)
    await expect(answer(host, id, { a: 1 })).rejects.toMatchObject({ code: 'run_not_found' })
  })
})
