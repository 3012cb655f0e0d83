/** What expires in a store of this process leaves it, whatever the store does meanwhile. */
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { Alarm, type Expiring, type Upkeep } from '../../src/stores/alarm.ts'
import { bound } from '../../src/stores/bound.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Document, Store, Transaction } from '../../src/stores/store.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'

const MINUTE = 60_000
const THINGS: Expiring = { expiring: ['thing'] }

const thing = (id: string, expiresAt?: number): Document => {
  return { id, partition: '', at: 0, tags: {}, value: id, expiresAt }
}

/** An alarm over a store in memory, with what is left in the store. */
function make(declared: Expiring = THINGS, upkeep: Upkeep = {}, own: Partial<Store> = {}) {
  const inner = memoryStore()
  const costs = { reads: 0, writes: 0 }
  const store: Store = {
    ...inner,
    read(work) {
      costs.reads++
      return inner.read(work)
    },
    write(work) {
      costs.writes++
      return inner.write(work)
    },
    ...own,
  }
  const onError = vi.fn()
  const alarm = new Alarm(store, onError)
  alarm.add(declared, upkeep)
  const put = (id: string, inMs?: number, collection = 'thing') =>
    alarm.write(declared, upkeep, tx =>
      tx.put(collection, thing(id, inMs === undefined ? undefined : tx.now + inMs)),
    )
  const left = () => inner.read(tx => tx.oldest('thing', 1000).map(({ id }) => id))
  return { alarm, inner, costs, onError, put, left }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('an alarm', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('deletes what has expired within a minute, and nothing else', async () => {
    const { put, left } = make()
    await put('a', 1000)
    await put('b', 10 * MINUTE)
    await put('c')
    await pass(MINUTE + 1)
    expect(left()).toEqual(['b', 'c'])
    await pass(9 * MINUTE)
    expect(left()).toEqual(['c'])
  })

  it('has no timer where nothing expires, and one where much does', async () => {
    const { put } = make()
    await put('c')
    expect(vi.getTimerCount()).toBe(0)
    for (let n = 0; n < 50; n++) await put(`${n}`, 1000 * n)
    expect(vi.getTimerCount()).toBe(1)
    await pass(3 * MINUTE)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('looks once for what expires one after another, and writes nothing for what does not', async () => {
    const { put, costs, left } = make()
    for (let n = 0; n < 60; n++) await put(`${n}`, 1000 * n)
    await put('late', 30 * MINUTE)
    Object.assign(costs, { reads: 0, writes: 0 })
    await pass(20 * MINUTE)
    expect(left()).toEqual(['late'])
    expect(costs).toEqual({ reads: 1, writes: 1 })
  })

  it('deletes many in transactions of few', async () => {
    const { put, left, inner } = make({ ...THINGS, atOnce: 10 })
    const most = vi.spyOn(inner, 'write')
    for (let n = 0; n < 95; n++) await put(`${n}`, 0)
    most.mockClear()
    await pass(MINUTE)
    expect(left().length).toBe(85)
    await pass(1000)
    expect(left()).toEqual([])
    expect(most).toHaveBeenCalledTimes(10)
  })

  it('deletes all that belongs to a document, and tells of it on time where that is asked', async () => {
    const told: string[] = []
    const forget = (tx: Transaction, name: string, id: string) => {
      tx.delete(name, id)
      tx.delete('part', id)
    }
    const onExpired = async ({ id }: Document) => void told.push(id)
    const { put, left, inner } = make({ ...THINGS, forget }, { onExpired })
    inner.write(tx => tx.put('part', thing('a')))
    await put('a', 1000)
    await pass(999)
    expect(told).toEqual([])
    await pass(2)
    expect([told, left(), inner.read(tx => tx.count('part'))]).toEqual([['a'], [], 0])
  })

  it('misses nothing that expires while it looks', async () => {
    const inner = memoryStore()
    // The answer is that of before, and comes late.
    const read: Store['read'] = work =>
      new Promise(resolve => setTimeout(resolve, 50, inner.read(work))) as never
    const told: string[] = []
    const onExpired = async ({ id }: Document) => void told.push(id)
    const { put } = make(THINGS, { onExpired }, { ...inner, read })
    for (const id of ['a', 'b', 'c']) {
      await put(id, 0)
      await pass(20)
    }
    await pass(500)
    expect(told.toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('goes on after a store that threw, with longer and longer waits', async () => {
    let isBroken = false
    const inner = memoryStore()
    const read: Store['read'] = work => {
      if (isBroken) throw new Error('database is locked')
      return inner.read(work)
    }
    const { put, onError } = make(THINGS, {}, { ...inner, read })
    await put('a', 0)
    isBroken = true
    await pass(11 * MINUTE)
    expect(onError.mock.calls.length).toBeGreaterThan(10)
    expect(onError.mock.calls.length).toBeLessThan(20)
    isBroken = false
    await pass(MINUTE)
    expect(inner.read(tx => tx.count('thing'))).toBe(0)
  })

  it('lets one declaration fail alone', async () => {
    const { alarm, put, left, onError, inner } = make()
    const forget = () => {
      throw new Error('not this one')
    }
    alarm.add({ expiring: ['other'], forget })
    inner.write(tx => tx.put('other', thing('x', 0)))
    await put('a', 0)
    await pass(MINUTE)
    expect(left()).toEqual([])
    expect(onError).toHaveBeenCalledWith(new Error('not this one'))
    await alarm.stop()
  })

  it('finds what another process has left, once anything is written', async () => {
    const { alarm, inner, left } = make()
    inner.write(tx => tx.put('thing', thing('old', Date.now() - 1)))
    alarm.wake()
    await pass(MINUTE)
    expect(left()).toEqual([])
  })

  it('stops, and looks for nothing until it is started again', async () => {
    const { alarm, put, left, costs } = make()
    await put('a', 0)
    await alarm.stop()
    expect(vi.getTimerCount()).toBe(0)
    await put('b', 0)
    await pass(5 * MINUTE)
    expect(left()).toEqual(['a', 'b'])
    expect(costs.reads).toBe(0)
    alarm.start()
    await pass(MINUTE)
    expect(left()).toEqual([])
  })

  it('makes up for a timer that was lost with the next write', async () => {
    const { put, left } = make()
    await put('a', 0)
    // What a runtime does that ends timers with the request that set them.
    vi.clearAllTimers()
    vi.setSystemTime(Date.now() + 5 * MINUTE)
    await put('b', 10 * MINUTE)
    await pass(0)
    expect(left()).toEqual(['b'])
  })

  it.each([-2, 2])('goes by the clock of the store, though this process is %i days off', async days => {
    const inner = memoryStore()
    const off = days * 24 * 60 * MINUTE
    const write: Store['write'] = work => inner.write(tx => work({ ...bound(tx), now: Date.now() - off }))
    const { put } = make(THINGS, {}, { ...inner, write, read: write })
    const count = () => inner.read(tx => tx.count('thing'))
    await put('a', 3 * MINUTE)
    await pass(3 * MINUTE - 1)
    expect(count()).toBe(1)
    await pass(MINUTE)
    expect(count()).toBe(0)
  })

  it('tells of each document once, however many processes share the store', async () => {
    const store = memoryStore()
    const told: string[] = []
    const onExpired = async ({ id }: Document) => void told.push(id)
    const alarms = [1, 2, 3].map(() => new Alarm(store, error => expect.unreachable(String(error))))
    for (const alarm of alarms) {
      alarm.add(THINGS, { onExpired })
      await alarm.write(THINGS, { onExpired }, tx => tx.put('thing', thing(`${told.length}`, tx.now + 1000)))
    }
    for (let n = 0; n < 20; n++) {
      const put = (tx: Transaction) => tx.put('thing', thing(`own ${n}`, tx.now + 1000 + n))
      await alarms[n % 3]?.write(THINGS, { onExpired }, put)
    }
    await pass(5000)
    expect(told.toSorted()).toEqual([...new Set(told)].toSorted())
    expect(store.read(tx => tx.count('thing'))).toBe(0)
  })

  it('tells of a document of a dead process once, in the file that two have open', async () => {
    vi.useRealTimers()
    const folder = await newFolder()
    const [one, two] = [1, 2].map(() => sqliteState({ path: join(folder.path, 'a.db') }).store) as [
      Store,
      Store,
    ]
    const alarms = [one, two].map(store => new Alarm(store, error => expect.unreachable(String(error))))
    onTestFinished(async () => {
      for (const alarm of alarms) await alarm.stop()
      one.close()
      two.close()
      await folder.remove()
    })
    const ids = Array.from({ length: 300 }, (_, n) => `left ${n}`)
    await one.write(tx => {
      for (const id of ids) tx.put('thing', thing(id, tx.now))
    })
    const told: string[] = []
    const onExpired = async ({ id }: Document) => void told.push(id)
    await Promise.all(
      alarms.map((alarm, n) => {
        alarm.add(THINGS, { onExpired })
        return alarm.write(THINGS, { onExpired }, tx => tx.put('thing', thing(`own ${n}`, tx.now)))
      }),
    )
    await eventually(() => expect(told.toSorted()).toEqual([...ids, 'own 0', 'own 1'].toSorted()))
    expect(await one.read(tx => tx.count('thing'))).toBe(0)
  })

  it('leaves nothing for longer than two minutes, whatever is written when', async () => {
    const step = fc.record({ inMs: fc.nat(10 * MINUTE), afterMs: fc.nat(3 * MINUTE) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const { alarm, put, inner } = make()
        for (const [n, { inMs, afterMs }] of steps.entries()) {
          await put(`${n}`, inMs)
          await pass(afterMs)
          const [oldest] = inner.read(tx => tx.expired('thing', tx.now, 1))
          expect(Date.now() - (oldest?.expiresAt ?? Date.now())).toBeLessThan(2 * MINUTE)
        }
        await pass(12 * MINUTE)
        expect(inner.read(tx => tx.count('thing'))).toBe(0)
        await alarm.stop()
      }),
      { numRuns: 30 },
    )
  })
})
