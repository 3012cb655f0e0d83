/** Whatever call of a store fails while a run is kept or answered: never is it half done. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunHost } from '../../src/runs/stored/host.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { WAITING, type Waiting } from '../../src/runs/waiting/waiting.ts'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import type { NearStore } from '../../src/stores/store.ts'
import { answer, goOn, kept } from '../contracts/run-host/answering.ts'
import { begin, ending, unique } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { type Act, countOf, openGate } from '../contracts/run-host/scripted.ts'
import { faultyStore, outages, pass, storms } from '../contracts/store/faulty.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const hostOver = (inner: NearStore, isFailing: (point: string) => boolean): RunHost =>
  createLocalHost({ store: faultyStore(inner, isFailing), settings: SETTINGS, retention: {} })

const refused = <T>(promise: Promise<T>) => promise.catch((error: { code: string }) => error.code)

/** What is kept of a run that waits agrees with itself: how many are answered. */
function answersOf(inner: NearStore, id: string): number {
  const waiting = inner.read(tx => tx.get<Waiting>(WAITING, id))?.value
  const answers = waiting?.answers.length ?? 0
  expect(waiting?.next === undefined).toBe(answers < 2)
  return answers
}

/** Answers over a store that works again: whatever came before, one run goes on. */
async function expectOneGoesOn(host: RunHost, id: string, count: string): Promise<void> {
  const again = await pass(answer(host, id, { a: 1, b: 2 }))
  expect((await pass(host.get(id, null))).continuedBy).toBe(again.next?.id)
  await pass(goOn(host, again))
  expect(await pass(ending(host, again.next?.id ?? ''))).toMatchObject({ status: 'completed' })
  expect(countOf(count)).toBe(1)
}

const acts = (count: string): Act[] => [{ ask: ['a', 'b'] }, { count }]

const stores: Readonly<Record<string, () => NearStore>> = {
  memory: () => memoryStore(),
  SQLite: () => sqlStore(openDatabase(':memory:')),
}

describe.each(Object.entries(stores))('requests over a store that fails: %s', (_, make) => {
  /** How often a store is called to answer, and to start what goes on. */
  async function callsToAnswer(): Promise<number> {
    const all = outages()
    const host = hostOver(make(), all.failing)
    const id = await pass(kept(host, acts(unique('count'))))
    const before = all.count
    await pass(goOn(host, await pass(answer(host, id, { a: 1, b: 2 }))))
    return all.count - before
  }

  it.each([200, 40_000])('at each call while it is answered, for %i ms', async ms => {
    const calls = await callsToAnswer()
    expect(calls).toBeGreaterThan(10)
    for (let at = 1; at <= calls; at++) {
      const inner = make()
      const outage = outages()
      const count = unique('count')
      const id = await pass(
        kept(
          hostOver(inner, () => false),
          acts(count),
        ),
      )
      const host = hostOver(inner, outage.failing)
      outage.begin(at, () => void setTimeout(outage.end, ms))
      const answering = answer(host, id, { a: 1, b: 2 }).then(answered => goOn(host, answered))
      const end = await pass(refused(answering))
      // Without patience there is a refusal; with it nobody notices.
      if (ms < 1000) expect(end).toMatchObject({ continuedFrom: id })
      expect([0, 2]).toContain(answersOf(inner, id))
      outage.end()
      await vi.advanceTimersByTimeAsync(60_000)
      await expectOneGoesOn(host, id, count)
    }
  })

  it('at each call while a plain run is kept: it is there with all that it needs, or it is not', async () => {
    const all = outages()
    await pass(kept(hostOver(make(), all.failing), acts('none')))
    for (let at = 1; at <= all.count; at++) {
      const inner = make()
      const outage = outages()
      const host = hostOver(inner, outage.failing)
      outage.begin(at, () => {})
      const id = await pass(refused(kept(host, acts('none'))))
      expect(id).toBe('state_unavailable')
      const isThere = inner.read(tx => [tx.count('run'), tx.count(WAITING), tx.count('running')])
      expect(isThere).toEqual([0, 0, 0])
    }
  })

  it('at random, again and again', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const inner = make()
      const storm = storms(seed)
      const count = unique('count')
      const id = await pass(
        kept(
          hostOver(inner, () => false),
          acts(count),
        ),
      )
      const host = hostOver(inner, storm.failing)
      const both = [answer(host, id, { a: 1 }), answer(host, id, { b: 2 }), answer(host, id, { a: 1, b: 2 })]
      await pass(Promise.all(both.map(refused)))
      answersOf(inner, id)
      storm.end()
      await vi.advanceTimersByTimeAsync(60_000)
      await expectOneGoesOn(host, id, count)
    }
  })

  it('while a stored run ends with requests: they are told with its end', async () => {
    const inner = make()
    let isOut = false
    const host = hostOver(inner, point => isOut && point === 'commit')
    const gate = unique('gate')
    const { id } = await pass(begin(host, [{ gate }, { ask: ['a'] }]))
    isOut = true
    openGate(gate)
    await vi.advanceTimersByTimeAsync(1000)
    expect(inner.read(tx => tx.get(WAITING, id))).toBeUndefined()
    isOut = false
    expect((await pass(ending(host, id))).requests).toMatchObject([{ message: 'a' }])
    expect((await pass(answer(host, id, { a: 1 }))).next).toBeDefined()
  })
})
