import { describe, expect, it } from 'vitest'
import { callIn, objectServiceOf, remote } from '../../src/core/object-service.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Document, Reader, Transaction } from '../../src/stores/store.ts'

const HOUR = 3_600_000

const document = (id: string, expiresAt?: number): Document<string> => ({
  id,
  partition: 'p',
  at: 1,
  tags: {},
  value: id,
  expiresAt,
})

const works = {
  reads: { count: (tx: Reader) => tx.count('c') },
  writes: {
    put: (tx: Transaction, ...documents: Document[]) => {
      for (const each of documents) tx.put('c', each)
    },
    putElsewhere: (tx: Transaction, each: Document) => tx.put('elsewhere', each),
    fail(tx: Transaction, each: Document) {
      tx.put('c', each)
      throw new RangeError('undone')
    },
  },
  expiring: ['c'],
}

/** A keeper, with the moments at which it wants to be woken. */
function keeper() {
  const [store, moments, expired] = [memoryStore(), [] as number[], [] as string[]]
  const wakeBy = async (at: number) => void moments.push(at)
  const { ask, alarm } = objectServiceOf({ store, wakeBy }, works, async ({ id }) => void expired.push(id))
  return { ask, alarm: () => alarm?.(), moments, expired }
}

describe('keeperOf', () => {
  it('wakes the object by the soonest document that it has put, and by no other', async () => {
    const { ask, moments } = keeper()
    const now = Date.now()
    await ask('put', [document('a', now + 2 * HOUR), document('b', now + HOUR), document('c')])
    expect(moments).toEqual([now + HOUR])
    await ask('put', [document('d')])
    await ask('putElsewhere', [document('e', now + HOUR)])
    await expect(async () => ask('fail', [document('f', now + HOUR)])).rejects.toThrow(RangeError)
    expect(await ask('count', [])).toBe(4)
    expect(moments).toHaveLength(1)
  })

  it('deletes what has expired at an alarm, tells of each, and goes on at the next moment', async () => {
    const { ask, alarm, moments, expired } = keeper()
    const later = Date.now() + HOUR
    await ask('put', [document('a', 1), document('b', 2), document('c', later), document('d')])
    moments.splice(0)
    await alarm()
    expect(expired).toEqual(['a', 'b'])
    expect([await ask('count', []), moments]).toEqual([2, [later]])
    await alarm()
    expect([expired.length, moments]).toEqual([2, [later, later]])
  })

  it('comes back at once for what is too much for one alarm', async () => {
    const { ask, alarm, moments } = keeper()
    await ask(
      'put',
      Array.from({ length: 150 }, (_, at) => document(`${at}`, at + 1)),
    )
    moments.splice(0)
    await alarm()
    expect([await ask('count', []), moments]).toEqual([50, [101]])
    await alarm()
    expect([await ask('count', []), moments]).toEqual([0, [101]])
  })
})

describe('remote', () => {
  it('asks by the name of the method', async () => {
    const asked: unknown[] = []
    const calls = remote<{ add(one: number, other: number): number }>(async (...all) => {
      asked.push(all)
      return 3
    })
    expect(await calls.add(1, 2)).toBe(3)
    expect(asked).toEqual([['add', 1, 2]])
  })
})

describe('callIn', () => {
  it('calls what is there, and refuses everything else by its name', () => {
    const methods = { add: (one: number, other: number) => one + other }
    expect(callIn(methods, 'add', [1, 2])).toBe(3)
    for (const name of ['sub', 'constructor', '__proto__']) {
      expect(() => callIn(methods, name, [])).toThrow(
        expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(`\`${name}\``) }),
      )
    }
  })
})
