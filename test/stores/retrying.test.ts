/** A store that can be reached now and then only: what is asked of it comes to something, once, and in order. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServableError } from '../../src/base/errors.ts'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { createRetrying, type Retrying } from '../../src/stores/remote/retrying.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import type { SqlDriver } from '../../src/stores/sql/sql-driver.ts'
import { numbers, outcomeOf, REFUSAL, UNAVAILABLE } from './numbers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const throwing = (error: unknown) => () => {
  throw error
}

/** Whether a promise has come to anything by now. */
function watched(promise: Promise<unknown>): { readonly isSettled: boolean } {
  const seen = { isSettled: false }
  const settle = () => {
    seen.isSettled = true
  }
  promise.then(settle, settle)
  return seen
}

describe('createPatient over a store that works', () => {
  it('gives what it reads and writes at once', () => {
    const { store, add } = numbers()
    const patient = createRetrying(store)
    expect([patient.write(add(7)), patient.write(add(8)), patient.read(() => 'seen')]).toEqual([1, 2, 'seen'])
  })

  it('gathers what comes soon after a commit into one, in order', async () => {
    const model = numbers()
    const patient = createRetrying(model.store, { gatherMs: 3 })
    expect(patient.write(model.add(0))).toBe(1)
    const later = Promise.all([1, 2, 3].map(number => patient.write(model.add(number))))
    expect(model.written).toEqual([0])
    await vi.advanceTimersByTimeAsync(3)
    expect(await later).toEqual([2, 3, 4])
    expect(model.written).toEqual([0, 1, 2, 3])
    expect(model.commits).toBe(2)
  })

  it('lets a writer that is alone wait for the end of a turn only', async () => {
    const model = numbers()
    const atEndOfTurn = (work: () => void) => void setTimeout(work, 0)
    const patient = createRetrying(model.store, { gatherMs: 60_000, atEndOfTurn })
    for (const number of [0, 1, 2]) {
      const written = patient.write(model.add(number))
      await vi.advanceTimersByTimeAsync(0)
      expect(await written).toBe(number + 1)
    }
    expect(model.commits).toBe(3)
  })

  it('gathers for longer once several have written in one turn, until one is alone again', async () => {
    const model = numbers()
    const atEndOfTurn = (work: () => void) => void setTimeout(work, 0)
    const patient = createRetrying(model.store, { gatherMs: 3, atEndOfTurn })
    const write = (number: number) => watched(Promise.resolve(patient.write(model.add(number))))
    for (const number of [0, 1, 2]) write(number)
    await vi.advanceTimersByTimeAsync(0)
    expect(model.commits).toBe(2)
    const fourth = write(3)
    await vi.advanceTimersByTimeAsync(2)
    expect(fourth.isSettled).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(fourth.isSettled).toBe(true)
    const fifth = write(4)
    await vi.advanceTimersByTimeAsync(1)
    expect(fifth.isSettled).toBe(true)
    expect(model.written).toEqual([0, 1, 2, 3, 4])
  })

  it('writes at once again when nothing has come for a while', async () => {
    const { store, add } = numbers()
    const patient = createRetrying(store, { gatherMs: 3 })
    patient.write(add(0))
    await vi.advanceTimersByTimeAsync(3)
    expect(patient.write(add(1))).toBe(2)
  })

  it('commits no more than 256 works at once, and all of them in order', async () => {
    const model = numbers()
    const patient = createRetrying(model.store, { gatherMs: 3 })
    const all = Array.from({ length: 1000 }, (_, number) => number)
    const written = Promise.all(all.map(number => patient.write(model.add(number))))
    await vi.advanceTimersByTimeAsync(100)
    expect(await written).toEqual(all.map(number => number + 1))
    expect(model.written).toEqual(all)
    expect(model.commits).toBe(1 + Math.ceil(999 / 256))
  })

  it.each([
    ['a refusal', REFUSAL],
    ['a mistake', new TypeError('not a function')],
  ])('throws %s at once, and tries it once', (_, error) => {
    const { store } = numbers()
    const patient = createRetrying(store)
    const work = vi.fn(throwing(error))
    expect(() => patient.write(work)).toThrow(error)
    expect(() => patient.read(work)).toThrow(error)
    expect(work).toHaveBeenCalledTimes(2)
  })

  it('refuses one bad work among many, and writes the others with it', async () => {
    const model = numbers()
    const patient = createRetrying(model.store, { gatherMs: 3 })
    patient.write(model.add(0))
    const works = [model.add(1), throwing(REFUSAL), model.add(2), throwing(new TypeError('x')), model.add(3)]
    const outcomes = Promise.all(works.map(work => outcomeOf(() => patient.write(work))))
    await vi.advanceTimersByTimeAsync(3)
    expect((await outcomes).map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
    expect(model.written).toEqual([0, 1, 2, 3])
    expect(model.commits).toBe(2)
  })

  it('writes what waits when it is flushed, and nothing again', async () => {
    const model = numbers()
    const patient = createRetrying(model.store, { gatherMs: 3 })
    const all = Array.from({ length: 600 }, (_, number) => number)
    const written = Promise.all(all.map(number => patient.write(model.add(number))))
    patient.flush()
    expect(model.written).toEqual(all)
    expect(await written).toHaveLength(600)
    expect(vi.getTimerCount()).toBe(0)
    patient.flush()
    expect(model.written).toEqual(all)
  })
})

describe('createPatient over a store that fails', () => {
  it('writes as soon as it can, in the order in which it was asked', async () => {
    const model = numbers()
    const patient = createRetrying(model.store)
    model.fail('busy')
    const written = Promise.all([1, 2, 3].map(number => patient.write(model.add(number))))
    await vi.advanceTimersByTimeAsync(500)
    expect(model.written).toEqual([])
    model.fail(undefined)
    await vi.advanceTimersByTimeAsync(200)
    expect(await written).toEqual([1, 2, 3])
    expect(model.written).toEqual([1, 2, 3])
    expect(patient.write(model.add(4))).toBe(4)
  })

  it('serves those who wait before whoever comes once it works again', async () => {
    const model = numbers()
    const patient = createRetrying(model.store)
    model.fail('busy')
    const first = patient.write(model.add(1))
    model.fail(undefined)
    const second = patient.write(model.add(2))
    await vi.advanceTimersByTimeAsync(200)
    expect(await Promise.all([first, second])).toEqual([1, 2])
  })

  it('reads as soon as it can, and says at once what the work says', async () => {
    const { store, fail } = numbers()
    const patient = createRetrying(store)
    fail('busy')
    const seen = patient.read(() => 'seen')
    const refused = outcomeOf(() => patient.read(throwing(REFUSAL)))
    await vi.advanceTimersByTimeAsync(300)
    fail(undefined)
    await vi.advanceTimersByTimeAsync(200)
    expect(await seen).toBe('seen')
    expect(await refused).toMatchObject({ reason: REFUSAL })
  })

  it.each(['read', 'write'] as const)('says that it cannot %s when patience is over, and why', async what => {
    const { store, fail } = numbers()
    const patient: Retrying = createRetrying(store)
    fail('busy')
    const outcomes = [100, undefined, 5000].map(ms => outcomeOf(() => patient[what](() => 'never', ms)))
    const seen = outcomes.map(watched)
    const settled = () => seen.map(({ isSettled }) => isSettled)
    await vi.advanceTimersByTimeAsync(90)
    expect(settled()).toEqual([false, false, false])
    await vi.advanceTimersByTimeAsync(200)
    expect(settled()).toEqual([true, false, false])
    await vi.advanceTimersByTimeAsync(900)
    expect(settled()).toEqual([true, true, false])
    await vi.advanceTimersByTimeAsync(5000)
    for (const outcome of outcomes) {
      expect(await outcome).toMatchObject({
        reason: { ...UNAVAILABLE, cause: { message: 'database is locked' } },
      })
    }
  })

  it('has no more patience with who stands behind many patient ones', async () => {
    const { store, add, fail } = numbers()
    const patient = createRetrying(store)
    fail('busy')
    const many = Array.from({ length: 300 }, () => outcomeOf(() => patient.write(add(1), 15_000)))
    const hasty = outcomeOf(() => patient.write(add(2), 100))
    const seen = watched(hasty)
    await vi.advanceTimersByTimeAsync(300)
    expect(seen.isSettled).toBe(true)
    expect(await hasty).toMatchObject({ reason: UNAVAILABLE })
    fail(undefined)
    await vi.advanceTimersByTimeAsync(300)
    for (const one of many) expect(await one).toMatchObject({ status: 'fulfilled' })
  })

  it('writes again all works of a commit that was lost, and none of them twice', async () => {
    const model = numbers()
    const patient = createRetrying(model.store, { gatherMs: 3 })
    patient.write(model.add(0))
    const written = Promise.all([1, 2, 3].map(number => patient.write(model.add(number))))
    model.fail({ lostAfter: 2 })
    await vi.advanceTimersByTimeAsync(50)
    expect(model.written).toEqual([0])
    model.fail(undefined)
    await vi.advanceTimersByTimeAsync(200)
    expect(await written).toEqual([2, 3, 4])
    expect(model.written).toEqual([0, 1, 2, 3])
  })

  it('says at once of all works of a commit what will be no other the next time', async () => {
    const full = new ServableError('state_full', 'There is no room')
    const commit = throwing(full)
    const patient = createRetrying({ read: throwing(full), commit })
    expect(() => patient.write(() => {})).toThrow(full)
    expect(() => patient.read(() => {})).toThrow(full)
  })

  it('refuses at once what comes while 10,000 works wait', async () => {
    const model = numbers()
    const patient = createRetrying(model.store)
    model.fail('busy')
    const all = Array.from({ length: 10_000 }, (_, number) => number)
    const written = Promise.all(all.map(number => patient.write(model.add(number), 5000)))
    expect(() => patient.write(model.add(-1))).toThrow(expect.objectContaining(UNAVAILABLE))
    await vi.advanceTimersByTimeAsync(500)
    model.fail(undefined)
    await vi.advanceTimersByTimeAsync(1000)
    await written
    expect(model.written).toEqual(all)
  })

  it('says of all that cannot be written that it cannot, when it is flushed, and writes nothing of it later', async () => {
    const model = numbers()
    const patient = createRetrying(model.store)
    model.fail('busy')
    const outcomes = [1, 2].map(number => outcomeOf(() => patient.write(model.add(number))))
    patient.flush()
    expect(vi.getTimerCount()).toBe(0)
    model.fail(undefined)
    for (const outcome of outcomes) expect(await outcome).toMatchObject({ reason: UNAVAILABLE })
    expect(patient.write(model.add(3))).toBe(1)
  })
})

describe('createPatient over a database', () => {
  const log = (driver: SqlDriver) => {
    const store = sqlStore(driver)
    const entries = () => store.read(tx => tx.read('l', 0, 100).map(({ data }) => data))
    return { patient: createRetrying(store, { gatherMs: 3 }), entries }
  }

  it('undoes of a commit what a refused work has written, and nothing else', async () => {
    const { patient, entries } = log(openDatabase(':memory:'))
    const add = (data: string) => patient.write(tx => tx.append('l', data))
    add('a')
    const refused = outcomeOf(() =>
      patient.write(tx => {
        tx.append('l', 'never')
        throw REFUSAL
      }),
    )
    const written = add('b')
    await vi.advanceTimersByTimeAsync(3)
    expect(await refused).toMatchObject({ reason: REFUSAL })
    expect(await written).toBe(2)
    expect(entries()).toEqual(['a', 'b'])
  })

  it('writes once what stood in a transaction that the database has undone by itself', async () => {
    const driver = openDatabase(':memory:')
    let isLost = false
    const { patient, entries } = log({
      ...driver,
      savepoint(work) {
        return driver.savepoint(() => {
          const result = work()
          if (isLost) {
            // As a disk that is full does.
            driver.run('ROLLBACK')
            throw new Error('database or disk is full')
          }
          return result
        })
      },
    })
    const add = (data: string) => patient.write(tx => tx.append('l', data))
    add('a')
    isLost = true
    const written = Promise.all([add('b'), add('c')])
    await vi.advanceTimersByTimeAsync(100)
    expect(entries()).toEqual(['a'])
    isLost = false
    await vi.advanceTimersByTimeAsync(200)
    expect(await written).toEqual([2, 3])
    expect(entries()).toEqual(['a', 'b', 'c'])
  })
})
