/** Who waits, who is next, and what is left of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CLAIM_MS,
  LINE_TRANSACTIONS,
  MAX_PRIORITY,
  type NewQueued,
} from '../../../src/features/queue/line.ts'
import { type QueueOptions, queue } from '../../../src/features/queue/plugin.ts'
import { takeExpired } from '../../../src/stores/alarm.ts'
import { bound } from '../../../src/stores/bound.ts'
import { MAX_DEATHS } from '../../../src/stores/deaths.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Transaction } from '../../../src/stores/store.ts'

const { reads, writes } = LINE_TRANSACTIONS
const BOUNDS = { maxQueued: 1000, maxQueuedPerClient: 1000 }

function runOf(id: string, client: string, priority = 0): NewQueued {
  const at = new Date().toISOString()
  const record = { id, kind: 'agent', name: 'a', status: 'queued', createdAt: at, updatedAt: at } as const
  const asked = { target: { kind: 'agent', name: 'a' }, input: id, options: {} } as const
  return { record, owner: client, client, priority, asked }
}

/** A line in memory, with what it holds. */
function line() {
  const store = memoryStore()
  const write = <T>(work: (tx: Transaction) => T): T => store.write(work) as T
  return {
    store,
    write,
    add: (id: string, client: string, priority?: number) =>
      write(tx => writes.add(tx, runOf(id, client, priority), BOUNDS)),
    next(but: readonly string[] = []) {
      const claimed = write(tx => writes.claim(tx, but))
      if (claimed !== undefined) write(tx => writes.done(tx, claimed.queued.record.id))
      return claimed?.queued.record.id
    },
    left: () =>
      write(tx => ['queued', 'queued-input', 'queued-lane', 'queued-key'].map(name => tx.count(name))),
  }
}

/** The order that the documentation promises, of what came before anything was started. */
function expected(came: readonly (readonly [client: number, priority: number])[]): string[] {
  const turns = new Map<string, number>()
  const runs = came.map(([client, priority], at) => {
    const lane = `${priority}:${client}`
    const turn = (turns.get(lane) ?? 0) + 1
    turns.set(lane, turn)
    return { id: `run-${at}-00000000`, priority, turn, at }
  })
  const order = runs.toSorted((a, b) => b.priority - a.priority || a.turn - b.turn || a.at - b.at)
  return order.map(({ id }) => id)
}

it('serves by priority, then by turns of clients, then in the order of coming, and leaves nothing', () => {
  const who = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: MAX_PRIORITY }))
  fc.assert(
    fc.property(fc.array(who, { maxLength: 60 }), came => {
      const it = line()
      for (const [at, [client, priority]] of came.entries())
        it.add(`run-${at}-00000000`, String(client), priority)
      const served: string[] = []
      for (let id = it.next(); id !== undefined; id = it.next()) served.push(id)
      expect(served).toEqual(expected(came))
      expect(it.left()).toEqual([0, 0, 0, 0])
    }),
  )
})

/** A line whose clock stands still, with what must be true of it. */
class Checked {
  #now = 1_000_000
  #came = 0
  readonly #line = line()
  readonly #waiting = new Set<string>()
  readonly #held = new Set<string>()

  #write<T>(work: (tx: Transaction) => T): T {
    const at = this.#now
    return this.#line.write(tx => work({ ...bound(tx), now: at }))
  }

  add(client: number): void {
    const id = `run-${this.#came++}-00000000`
    this.#write(tx => writes.add(tx, runOf(id, String(client)), BOUNDS))
    this.#waiting.add(id)
  }

  claim(): void {
    const id = this.#write(tx => writes.claim(tx, []))?.queued.record.id
    const free = [...this.#waiting].filter(each => !this.#held.has(each))
    expect(id === undefined).toBe(free.length === 0)
    if (id === undefined) return
    expect(free).toContain(id)
    this.#held.add(id)
  }

  take(): void {
    for (const id of this.#waiting) expect(this.#write(tx => writes.take(tx, id))).toBe(!this.#held.has(id))
    for (const id of this.#waiting) this.#held.add(id)
  }

  done(): void {
    const [id] = this.#held
    if (id === undefined) return
    this.#write(tx => writes.done(tx, id))
    this.#held.delete(id)
    this.#waiting.delete(id)
  }

  release(): void {
    const [id] = this.#held
    if (id === undefined) return
    this.#write(tx => writes.release(tx, id))
    this.#held.delete(id)
  }

  /** Long enough for what several processes have begun without a result. */
  wait(): void {
    this.#now += CLAIM_MS + 1_000_000
    this.#held.clear()
  }

  check(): void {
    expect(this.#write(tx => reads.count(tx))).toBe(this.#waiting.size)
    for (const id of this.#waiting) expect(this.#write(tx => reads.find(tx, id))?.record.id).toBe(id)
  }
}

it('loses and doubles none, whatever is added, claimed, given back, cancelled and left lying', () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('add', 'claim', 'take', 'done', 'release', 'wait'), fc.nat(3)),
    {
      maxLength: 80,
    },
  )
  fc.assert(
    fc.property(steps, taken => {
      const it = new Checked()
      for (const [what, client] of taken) it[what as 'add'](client)
      it.check()
    }),
  )
})

it('lets those who come later wait no longer than their turn', () => {
  const it = line()
  for (let at = 0; at < 3; at++) it.add(`busy-${at}-00000000`, 'busy')
  expect(it.next()).toBe('busy-0-00000000')
  expect(it.next()).toBe('busy-1-00000000')
  it.add('later-0-00000000', 'later')
  expect(it.next()).toBe('later-0-00000000')
})

it('lists and counts runs of tasks only where they are asked for', () => {
  const it = line()
  const { record, ...run } = runOf('task-00000000', 'one')
  it.write(tx => writes.add(tx, { ...run, record: { ...record, taskId: 't' } }, BOUNDS))
  it.add('run-00000000', 'one')
  const found = (hasTasks?: boolean) => {
    const query = { limit: 1, ...(hasTasks !== undefined && { hasTasks }) }
    return it.write(tx => [
      reads
        .list(tx, 'one', { ...query, limit: 10 })
        .map(({ id }) => id)
        .sort(),
      reads.list(tx, 'one', query).length,
      reads.countMatching(tx, 'one', query),
    ])
  }
  expect(found()).toEqual([['run-00000000', 'task-00000000'], 1, 2])
  expect(found(false)).toEqual([['run-00000000'], 1, 1])
})

it('passes over clients that have no place', () => {
  const it = line()
  it.add('one-00000000', 'one')
  it.add('two-00000000', 'two')
  expect(it.next(['one'])).toBe('two-00000000')
  expect(it.next(['one'])).toBeUndefined()
  expect(it.next()).toBe('one-00000000')
})

it('has one run for a key, and forgets keys whose time has come', () => {
  const it = line()
  const key = { id: 'key', fingerprint: 'f' }
  const reserve = (runId: string, asked = key, lasts = 1000) =>
    it.write(tx => writes.reserve(tx, asked, runId, tx.now + lasts))
  expect([reserve('a'), reserve('b')]).toEqual(['a', 'a'])
  expect(() => reserve('b', { ...key, fingerprint: 'g' })).toThrow(
    expect.objectContaining({ code: 'idempotency_mismatch' }),
  )
  const old = { ...key, id: 'old' }
  expect([reserve('c', old, 0), reserve('d', old, 0)]).toEqual(['c', 'd'])
  reserve('e', { ...key, id: 'new' })
  it.write(tx => takeExpired(tx, LINE_TRANSACTIONS))
  expect(it.left()[3]).toBe(2)
})

describe('options', () => {
  it.each<[string, object]>([
    ['maxQueued', { maxQueued: 0 }],
    ['maxQueuedPerOwner', { maxQueuedPerOwner: 101 }],
    ['priorityOf', { priorityOf: 3 }],
    ['max', { max: 3 }],
  ])('refuse a wrong %s', (name, options) => {
    expect(() => queue(options as QueueOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(`queue.${name}`) }),
    )
  })
})

it('rests longer each time that whoever starts a run dies, and lets others pass meanwhile', () => {
  const { write, add, left } = line()
  const id = 'kills-00000000'
  add(id, 'one')
  add('other-00000000', 'two')
  let now = Date.now()
  const at = <T>(work: (tx: Transaction) => T) => write(tx => work({ ...bound(tx), now }))
  const next = () => at(tx => writes.claim(tx, []))
  const begun: number[] = []
  for (let claimed = next(); begun.length < 9; now += 1000, claimed = next()) {
    if (claimed?.queued.record.id === 'other-00000000') at(tx => writes.done(tx, 'other-00000000'))
    if (claimed?.queued.record.id !== id) continue
    begun.push(now)
    if (claimed.queued.begun! > MAX_DEATHS) break
    // Somebody may cancel it as soon as nobody can be starting it any more.
    expect(at(tx => writes.take(tx, id))).toBe(false)
  }
  // The last one gives it up.
  expect(begun).toHaveLength(MAX_DEATHS + 1)
  const waits = begun.slice(1, MAX_DEATHS).map((time, index) => time - begun[index]!)
  expect(waits).toEqual(waits.toSorted((one, other) => one - other))
  expect(waits.at(-1)).toBeGreaterThan(10 * CLAIM_MS)
  at(tx => writes.done(tx, id))
  expect(left()).toEqual([0, 0, 0, 0])
})

it('can be cancelled while it rests, and begins anew once it is given back', () => {
  const { write, add } = line()
  const id = 'kills-00000000'
  add(id, 'one')
  let now = Date.now()
  const at = <T>(work: (tx: Transaction) => T) => write(tx => work({ ...bound(tx), now }))
  const next = () => at(tx => writes.claim(tx, []))
  next()
  now += CLAIM_MS
  next()
  now += CLAIM_MS
  expect(next()).toBeUndefined()
  expect(at(tx => writes.take(tx, id))).toBe(true)
  at(tx => writes.release(tx, id))
  for (let full = 0; full < 2 * MAX_DEATHS; full++) {
    expect(next()?.queued.begun).toBe(1)
    at(tx => writes.release(tx, id))
  }
})
