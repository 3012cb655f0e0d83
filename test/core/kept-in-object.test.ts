import { describe, expect, it } from 'vitest'
import { ServableError } from '../../src/base/errors.ts'
import type { ObjectContext } from '../../src/core/hosted.ts'
import { KeptInObject } from '../../src/core/kept-in-object.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const HOUR = 3_600_000

interface Thing {
  readonly state: 'working' | 'done'
}

/** Something kept in an object whose seat notes what it is asked for. */
function kept({ isAlone = true, canTell = true }: { isAlone?: boolean; canTell?: boolean } = {}) {
  const store = memoryStore()
  const [told, alarms]: [string[], [how: string, at: number][]] = [[], []]
  const seat: ObjectContext = {
    store,
    reach: () => async () => undefined,
    waitUntil: () => {},
    wakeBy: async at => void alarms.push(['by', at]),
    wakeAt: async at => void alarms.push(['at', at]),
    async letGo() {
      if (isAlone) store.transact(tx => tx.delete('thing', 'a'))
      return isAlone
    },
  }
  const thing = new KeptInObject<Thing>(seat, {
    collection: 'thing',
    missing: () => new ServableError('run_not_found', 'There is none'),
    statusOf: ({ state }) => state,
    isAtWork: ({ state }) => state === 'working',
    async report({ value }) {
      if (!canTell) throw new TypeError('The list is away')
      told.push(value.state)
    },
    unlist: async ({ id }) => void told.push(`unlisted ${id}`),
    look: async ({ id }) => void told.push(`looked at ${id}`),
    forget: tx => tx.delete('thing', 'a'),
  })
  const put = (state: Thing['state'], expiresAt?: number) =>
    store.transact(tx =>
      tx.put('thing', { id: 'a', partition: '', at: 1, tags: {}, value: { state }, expiresAt }),
    )
  return { thing, told, alarms, put }
}

describe('KeptInObject', () => {
  it('tells its list each time that it stands otherwise, and no more', async () => {
    const { thing, told, alarms, put } = kept()
    await thing.settle()
    expect([told, thing.isUnreported()]).toEqual([[], false])
    put('working')
    expect(thing.isUnreported()).toBe(true)
    await thing.settle()
    await thing.settle()
    const end = Date.now() + HOUR
    put('done', end)
    await thing.settle()
    await thing.settle()
    expect([told, thing.isUnreported()]).toEqual([['working', 'done'], false])
    expect(alarms.map(([how]) => how)).toEqual(['by', 'by', 'at', 'at'])
    expect(alarms.at(-1)).toEqual(['at', end])
  })

  it('tells a list that is away again soon', async () => {
    const { thing, alarms, put } = kept({ canTell: false })
    put('done', Date.now() + HOUR)
    await thing.settle()
    expect(thing.isUnreported()).toBe(true)
    expect(alarms).toEqual([['by', expect.any(Number)]])
    expect(alarms[0]?.[1]).toBeLessThan(Date.now() + HOUR / 2)
  })

  it.each([true, false])(
    'is unlisted, then gone, when its time has come; alone in its object: %s',
    async isAlone => {
      const { thing, told, put } = kept({ isAlone })
      put('done', Date.now())
      await expect(thing.id()).rejects.toMatchObject({ code: 'run_not_found' })
      expect([told, thing.document()]).toEqual([['unlisted a'], undefined])
    },
  )

  it('is looked at by an alarm before its list is told', async () => {
    const { thing, told, put } = kept()
    await thing.alarm()
    put('working')
    await thing.alarm()
    expect(told).toEqual(['looked at a', 'working'])
  })
})
