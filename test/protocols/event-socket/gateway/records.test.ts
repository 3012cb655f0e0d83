import { beforeEach, describe, expect, it, vi } from 'vitest'
import { localCalls } from '../../../../src/core/transaction-calls.ts'
import { createRecords, RECORDS } from '../../../../src/protocols/event-socket/gateway/object.ts'
import {
  cancelRuns,
  hasMissed,
  SOCKETS,
  type SocketRecord,
} from '../../../../src/protocols/event-socket/gateway/records.ts'
import type { RunHost } from '../../../../src/runs/stored/host.ts'
import { Alarm } from '../../../../src/stores/alarm.ts'
import { bound } from '../../../../src/stores/bound.ts'
import { memoryStore } from '../../../../src/stores/memory.ts'
import type { Store } from '../../../../src/stores/store.ts'

const socket = { id: 'public', owner: 'ann', generation: 1 }

interface Parts {
  readonly store: Store
  readonly host: RunHost
  readonly onError?: (error: unknown) => void
}

function recordsIn({ store, host, onError = () => {} }: Parts) {
  const calls = localCalls(store, RECORDS, new Alarm(store, onError), {
    onExpired: ({ value }) => cancelRuns(host, value as SocketRecord),
  })
  return createRecords(calls, { maxMs: 1000, timeoutMs: 5000 })
}

describe('the records of sockets', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    return () => vi.useRealTimers()
  })

  function make() {
    const store = memoryStore()
    const cancel = vi.fn(async (_id: string, _owner: string | null) => {
      throw new Error('it has ended')
    })
    const host = { cancel } as unknown as RunHost
    const records = recordsIn({ host, store })
    const count = () => store.transact(tx => tx.count(SOCKETS))
    return { host, store, records, cancel, count }
  }

  it('hand a socket with its runs to the next connection, and to no other owner', async () => {
    const { records } = make()
    await records.begin('pid', socket, [1, 'one', true], [])
    await records.begin('pid', socket, [2, 'two', true], [])
    expect(await records.take('pid', 'bob')).toBeUndefined()
    expect(await records.take('pid', null)).toBeUndefined()
    expect(await records.take('other', 'ann')).toBeUndefined()
    const runs = [
      [1, 'one', true],
      [2, 'two', true],
    ]
    expect(await records.take('pid', 'ann')).toEqual({ ...socket, generation: 2, runs })
  })

  it('cancel the runs of one who stays away, and of nobody else', async () => {
    const { records, cancel, count } = make()
    await records.begin('gone', socket, [1, 'one', true], [])
    await records.begin('here', socket, [1, 'two', true], [])
    await records.away('gone', 1)
    await vi.advanceTimersByTimeAsync(999)
    expect(cancel).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(10)
    expect(cancel.mock.calls).toEqual([['one', 'ann']])
    expect(count()).toBe(1)
    expect(await records.take('gone', 'ann')).toBeUndefined()
  })

  it.each([-2, 2])('go by the clock of the store, though this process is %i days off', async days => {
    const { host, cancel, store } = make()
    const off = days * 86_400_000
    // The store has another clock.
    const write: Store['write'] = work => store.write(tx => work({ ...bound(tx), now: Date.now() - off }))
    const far = recordsIn({ host, store: { ...store, write, read: write } })
    await far.begin('pid', socket, [1, 'one', true], [])
    await far.away('pid', 1)
    await vi.advanceTimersByTimeAsync(900)
    expect(cancel).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(200)
    expect(cancel.mock.calls).toEqual([['one', 'ann']])
  })

  it('cancel nothing of one who is back in time', async () => {
    const { records, cancel } = make()
    await records.begin('pid', socket, [1, 'one', true], [])
    await records.away('pid', 1)
    await vi.advanceTimersByTimeAsync(500)
    await records.take('pid', 'ann')
    await vi.advanceTimersByTimeAsync(3000)
    expect(cancel).not.toHaveBeenCalled()
  })

  it('do not listen to a connection that another has taken the place of', async () => {
    const { records, cancel } = make()
    await records.begin('pid', socket, [1, 'one', true], [])
    await records.take('pid', 'ann')
    await records.away('pid', 1)
    await records.drop('pid', 1)
    expect(await records.begin('pid', socket, [2, 'late', true], [])).toBe(false)
    await vi.advanceTimersByTimeAsync(3000)
    expect(cancel).not.toHaveBeenCalled()
    expect((await records.take('pid', 'ann'))?.runs).toEqual([[1, 'one', true]])
  })

  it('cancel at once what is left for good', async () => {
    const { records, cancel, count } = make()
    await records.begin('pid', socket, [1, 'one', true], [])
    await records.drop('pid', 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(cancel.mock.calls).toEqual([['one', 'ann']])
    expect(count()).toBe(0)
  })

  it('cancel no run that does not end with its socket', async () => {
    const { records, cancel } = make()
    await records.begin('pid', socket, [1, 'one', false], [])
    await records.begin('pid', socket, [2, 'two', true], [])
    await records.drop('pid', 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(cancel.mock.calls).toEqual([['two', 'ann']])
  })

  it('try again where the store cannot be read', async () => {
    const inner = memoryStore()
    let isBroken = false
    const store: Store = {
      ...inner,
      write(work) {
        if (isBroken) throw new Error('database is locked')
        return inner.write(work)
      },
      read(work) {
        if (isBroken) throw new Error('database is locked')
        return inner.read(work)
      },
    }
    const [cancel, onError] = [vi.fn(async () => {}), vi.fn()]
    const host = { cancel } as unknown as RunHost
    const records = recordsIn({ store, host, onError })
    await records.begin('pid', socket, [1, 'one', true], [])
    await records.away('pid', 1)
    isBroken = true
    await vi.advanceTimersByTimeAsync(1500)
    expect([onError.mock.calls.length, cancel.mock.calls.length]).toEqual([1, 0])
    isBroken = false
    await vi.advanceTimersByTimeAsync(1500)
    expect(cancel).toHaveBeenCalledWith('one', 'ann')
  })

  it('look at those who left later in their own time', async () => {
    const { records, cancel } = make()
    for (const name of ['a', 'b', 'c']) {
      await records.begin(name, socket, [1, name, true], [])
      await records.away(name, 1)
      await vi.advanceTimersByTimeAsync(400)
    }
    expect(cancel.mock.calls).toEqual([['a', 'ann']])
    await vi.advanceTimersByTimeAsync(900)
    expect(cancel.mock.calls.map(([id]) => id)).toEqual(['a', 'b', 'c'])
  })

  it('keep runs by number, in whatever order they are told', async () => {
    const { records } = make()
    for (const n of [2, 1, 4, 3]) await records.begin('pid', socket, [n, `run ${n}`, true], [])
    expect((await records.take('pid', 'ann'))?.runs.map(([n]) => n)).toEqual([1, 2, 3, 4])
  })

  it.each<[string, number, number[], boolean]>([
    ['has seen everything', 9, [], true],
    ['has missed what is known', 4, [], true],
    ['is in the middle of a run that is known', 9, [2, 7], true],
    ['has missed a run that is forgotten', 3, [], false],
    ['has seen nothing', 0, [], false],
    ['is in the middle of a run that is forgotten', 9, [3], false],
  ])('know all that a client has missed who %s: %i, %j is %s', (_, begun, open, isKnown) => {
    const runs = [2, 5, 6, 7, 8, 9].map(n => [n, `run ${n}`, true] as const)
    const seen = { begun, open: new Map(open.map(n => [n, 1])) }
    expect(hasMissed({ ...socket, runs }, seen)).toBe(isKnown)
  })

  it('keep the last runs of many, and forget a socket that nobody asks for', async () => {
    const { records, count } = make()
    for (let n = 1; n <= 300; n++) await records.begin('pid', socket, [n, `run ${n}`, true], [3])
    const runs = (await records.take('pid', 'ann'))?.runs
    // The third one is under way.
    expect([runs?.length, runs?.[0]?.[0], runs?.[1]?.[0], runs?.at(-1)?.[0]]).toEqual([257, 3, 45, 300])
    await vi.advanceTimersByTimeAsync(7000)
    expect(count()).toBe(0)
  })
})
