/** Ticks that are claimed, started and written down, over a store whose clock is set by hand. */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { ServableError } from '../../../src/base/errors.ts'
import type { Schedule } from '../../../src/features/schedules/plugin.ts'
import { MAX_DEATHS } from '../../../src/stores/deaths.ts'
import { eventually } from '../../eventually.ts'
import { type Clock, every, processOf, Runs, storeAt } from './kit.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 5, 12, 0, 30)
const at = (text: string) => Date.parse(`2026-01-05T${text}Z`)
const tick = (name: string, time: string) => `${name}@${at(time)}`

let clock: Clock
let runs: Runs
let kept: ReturnType<typeof storeAt>
const process = (...schedules: Schedule[]) => processOf({ store: kept.store, clock, runs }, schedules)

/** Lets a process claim what is due, and die before it has settled it. */
async function claimAndDie(list: readonly Schedule[], dying: Runs): Promise<void> {
  const dead = processOf({ store: kept.store, clock, runs: dying }, list)
  void dead.kept.look()
  await eventually(async () => expect((await dead.of('echo'))?.claim).toBeDefined())
}

beforeEach(() => {
  clock = { now: START }
  runs = new Runs()
  kept = storeAt(clock)
})

describe('a tick', () => {
  it('starts one run, at its time and not before', async () => {
    const one = process(every('*/5 * * * *'))
    await one.catchUp()
    expect(runs.started).toEqual([])
    clock.now = at('12:04:59.999')
    await one.catchUp()
    expect(runs.started).toEqual([])
    clock.now = at('12:05:00')
    await one.catchUp()
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '12:05:00')])
    expect(await one.of('echo')).toMatchObject({
      nextAt: at('12:10:00'),
      last: { id: 'run-1', at: at('12:05:00') },
    })
    expect(await one.of('echo')).not.toHaveProperty('claim.tickAt')
  })

  it('starts one run however many processes look, at the same time too', async () => {
    const all = [1, 2, 3, 4].map(() => process(every('* * * * *'), every('* * * * *', { name: 'other' })))
    for (const time of ['12:01:00', '12:02:00.400', '12:03:01']) {
      clock.now = at(time)
      await Promise.all(all.map(each => each.catchUp()))
    }
    const times = ['12:01:00', '12:02:00', '12:03:00']
    // The first minute is seen by nobody: schedules begin with the first look.
    expect(runs.started.toSorted()).toEqual(
      ['echo', 'other'].flatMap(name => times.slice(1).map(time => tick(name, time))).toSorted(),
    )
  })

  it('is not repeated by a clock that goes back, and once is enough for one that is put on', async () => {
    const one = process(every('* * * * *'))
    await one.catchUp()
    clock.now = at('12:01:00')
    await one.catchUp()
    clock.now = at('12:00:10')
    await one.catchUp()
    clock.now = at('12:01:00')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '12:01:00')])
    clock.now = at('15:00:30')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '12:01:00'), tick('echo', '12:02:00')])
    expect(await one.of('echo')).toMatchObject({ nextAt: at('15:01:00') })
  })
})

describe('ticks that nobody saw', () => {
  it.each([
    ['run', 1],
    ['skip', 0],
  ] as const)('%s', async (missed, count) => {
    const list = [every('0 * * * *', { missed })]
    await process(...list).catchUp()
    clock.now = at('18:30:00')
    const later = process(...list)
    await later.catchUp()
    expect(runs.started).toHaveLength(count)
    expect(await later.of('echo')).toMatchObject({ nextAt: at('19:00:00') })
  })

  it('are no missed ones within a minute', async () => {
    const one = process(every('0 * * * *', { missed: 'skip' }))
    await one.catchUp()
    clock.now = at('13:00:59')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '13:00:00')])
  })
})

describe('a process that dies', () => {
  it.each([
    [
      'before it starts the run',
      (dying: Runs) => Object.assign(dying, { start: () => new Promise(() => {}) }),
    ],
    ['after it has started the run', (dying: Runs) => Object.assign(dying, { dies: true })],
  ] as const)('%s, loses and doubles nothing', async (_, kill) => {
    const list = [every('0 * * * *')]
    const dying = new Runs()
    const first = processOf({ store: kept.store, clock, runs: dying }, list)
    await first.catchUp()
    kill(dying)
    clock.now = at('13:00:00')
    await claimAndDie(list, dying)
    const second = process(...list)
    await second.catchUp()
    // The keys are kept with the runs.
    for (const [key, id] of dying.byKey) runs.byKey.set(key, id)
    expect(runs.started).toEqual([])
    clock.now = at('13:00:30')
    await second.catchUp()
    expect([...dying.started, ...runs.started]).toEqual([tick('echo', '13:00:00')])
    expect(await second.of('echo')).toMatchObject({ last: { id: 'run-1' }, nextAt: at('14:00:00') })
  })

  it('is one of a few: then its schedule is paused, and each has waited longer than the one before', async () => {
    const list = [every('* * * * *')]
    await process(...list).catchUp()
    clock.now = at('12:01:00')
    const starts: number[] = []
    const die = () => {
      starts.push(clock.now)
      return new Promise<never>(() => {})
    }
    let last = process(...list)
    const isPaused = async () => (await last.of('echo'))?.isPaused === true
    for (; !(await isPaused()) && starts.length < 20; clock.now += 1000) {
      last = processOf({ store: kept.store, clock, runs: Object.assign(new Runs(), { start: die }) }, list)
      const before = starts.length
      const look = last.kept.look()
      await Promise.race([look, eventually(() => expect(starts.length).toBeGreaterThan(before))])
    }
    expect(starts).toHaveLength(MAX_DEATHS)
    const waits = starts.slice(1).map((time, index) => time - starts[index]!)
    expect(waits).toEqual(waits.toSorted((one, other) => one - other))
    expect(await last.of('echo')).toMatchObject({ lastError: { code: 'interrupted' } })
    expect(last.failures).toEqual(['echo: interrupted'])
    const next = process(...list)
    await next.kept.resume('echo')
    clock.now += MINUTE
    await next.catchUp()
    expect(runs.started).toHaveLength(1)
  })

  it('is no death where the run cannot be started', async () => {
    const list = [every('0 * * * *')]
    await process(...list).catchUp()
    clock.now = at('13:00:00')
    runs.failure = new ServableError('too_many_runs', 'no')
    for (let turn = 0; turn < 20; turn++, clock.now += MINUTE) await process(...list).catchUp()
    runs.failure = undefined
    await process(...list).catchUp()
    expect(runs.started).toEqual([tick('echo', '13:00:00')])
  })

  it('leaves its tick to whoever sees the next one, also before its claim has run out', async () => {
    const list = [every('* * * * * *')]
    await process(...list).catchUp()
    const dying = new Runs()
    Object.assign(dying, { start: () => new Promise(() => {}) })
    clock.now = at('12:00:31')
    await claimAndDie(list, dying)
    const second = process(...list)
    clock.now = at('12:00:32')
    await second.catchUp()
    expect(runs.started).toEqual([tick('echo', '12:00:31'), tick('echo', '12:00:32')])
  })

  it('leaves nothing to start again where the key of the run may be gone', async () => {
    const list = [every('0 0 1 * *')]
    await process(...list).catchUp()
    const dying = new Runs()
    Object.assign(dying, { start: () => new Promise(() => {}) })
    clock.now = Date.UTC(2026, 1, 1)
    await claimAndDie(list, dying)
    clock.now += 2 * 60 * MINUTE
    const second = process(...list)
    await second.catchUp()
    expect(runs.started).toEqual([])
    expect(second.failures).toEqual(['echo: interrupted'])
    expect(await second.of('echo')).toMatchObject({ nextAt: Date.UTC(2026, 2, 1) })
  })
})

describe('a run that cannot be started', () => {
  it('is tried again until the next tick, and told', async () => {
    const one = process(every('0 * * * *'))
    await one.catchUp()
    runs.failure = new ServableError('too_many_runs', 'Too many runs')
    clock.now = at('13:00:00')
    await one.catchUp()
    await one.catchUp()
    expect(await one.of('echo')).toMatchObject({
      claim: { failures: 1 },
      lastError: { code: 'too_many_runs', message: 'Too many runs', at: at('13:00:00') },
    })
    for (let more = 1; more < 50; more++) {
      clock.now += MINUTE
      await one.catchUp()
    }
    expect(one.failures).toEqual(['echo: too_many_runs'])
    expect(await one.of('echo')).toMatchObject({ claim: { failures: 50 } })
    clock.now = at('14:00:00')
    await one.catchUp()
    expect(one.failures).toEqual(['echo: too_many_runs', 'echo: too_many_runs'])
    runs.failure = undefined
    clock.now = at('14:00:02')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '14:00:00')])
    const after = await one.of('echo')
    expect(after).toMatchObject({ last: { at: at('14:00:00') } })
    expect(after?.lastError).toBeUndefined()
  })

  it('tells nobody what a server error says', async () => {
    const one = process(every('0 * * * *'))
    await one.catchUp()
    runs.failure = new Error('password=1')
    clock.now = at('13:00:00')
    await one.catchUp()
    expect(await one.of('echo')).toMatchObject({ lastError: { code: 'internal_error' } })
    expect(JSON.stringify(await one.of('echo'))).not.toContain('password')
  })

  it('is started when the store is back', async () => {
    const one = process(every('0 * * * *'))
    await one.catchUp()
    clock.now = at('13:00:00')
    kept.told.isAway = true
    await expect(one.kept.look()).rejects.toThrow('away')
    kept.told.isAway = false
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '13:00:00')])
  })
})

describe('an administrator', () => {
  it('pauses a schedule, and lets it go on from then', async () => {
    const one = process(every('0 * * * *'))
    await one.catchUp()
    expect(await one.kept.pause('echo')).toMatchObject([['echo', { isPaused: true }]])
    clock.now = at('15:30:00')
    await one.catchUp()
    expect(runs.started).toEqual([])
    expect((await one.of('echo'))?.nextAt).toBeUndefined()
    expect(await one.kept.resume('echo')).toMatchObject([['echo', { nextAt: at('16:00:00') }]])
    expect(one.wakes.at(-1)).toBeGreaterThan(Date.now())
    clock.now = at('16:00:00')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '16:00:00')])
  })

  it('loses no tick by letting a schedule go on that is not paused', async () => {
    const one = process(every('0 * * * *'))
    await one.catchUp()
    clock.now = at('13:00:01')
    await one.kept.resume('echo')
    await one.catchUp()
    expect(runs.started).toEqual([tick('echo', '13:00:00')])
  })

  it('starts a run by hand, once for each key', async () => {
    const one = process(every('0 * * * *'))
    const id = await one.kept.run('echo', 'a')
    expect(await one.kept.run('echo', 'a')).toBe(id)
    expect(await one.kept.run('echo', 'b')).not.toBe(id)
    expect(await one.of('echo')).toMatchObject({ last: { at: START }, nextAt: at('13:00:00') })
    await expect(one.kept.run('nobody', 'a')).rejects.toMatchObject({ code: 'not_found' })
    await expect(one.kept.pause('nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('code that changes', () => {
  it('drops the schedules that it has no more, and keeps what is known of the others', async () => {
    const before = process(every('0 * * * *'), every('0 * * * *', { name: 'gone' }))
    await before.catchUp()
    await before.kept.pause('echo')
    const after = process(every('30 * * * *'), every('* * * * *', { name: 'new' }))
    await after.catchUp()
    expect(await after.of('gone')).toBeUndefined()
    expect(await after.of('echo')).toMatchObject({ isPaused: true, cron: '30 * * * *' })
    expect(await after.of('new')).toMatchObject({ nextAt: at('12:01:00') })
    expect(await after.kept.resume('echo')).toMatchObject([['echo', { nextAt: at('12:30:00') }]])
    const [none] = [process()]
    await none.catchUp()
    expect(await none.of('echo')).toBeUndefined()
  })

  it('leaves to a newer version what it does not know, until nobody else is there', async () => {
    const old = process(every('0 * * * *'))
    await old.catchUp()
    const newer = process(every('* * * * *'))
    await newer.catchUp()
    clock.now = at('12:01:00')
    await old.kept.look()
    expect(runs.started).toEqual([])
    await newer.catchUp()
    expect(runs.started).toEqual([tick('echo', '12:01:00')])
    clock.now = at('12:05:00')
    await old.kept.look()
    await old.catchUp()
    expect(await old.of('echo')).toMatchObject({ cron: '0 * * * *', nextAt: at('13:00:00') })
  })
})

describe('ten thousand schedules', () => {
  const list = Array.from({ length: 10_000 }, (_, n) => every(`0 ${n % 24} * * *`, { name: `s${n}` }))

  it('cost a look what is due, and the one that comes next', async () => {
    const one = process(...list)
    await one.catchUp()
    kept.counts.found = 0
    await one.kept.look()
    expect(kept.counts.found).toBeLessThan(60)
    // Another process of the same code reads none of them either.
    kept.counts.found = 0
    const other = process(...list)
    await other.kept.look()
    expect(kept.counts.found).toBeLessThan(60)
    clock.now = at('13:00:00')
    const writes = kept.counts.writes
    await one.catchUp()
    expect(runs.started).toHaveLength(417)
    expect(new Set(runs.started).size).toBe(417)
    expect(kept.counts.writes - writes).toBeLessThanOrEqual(18)
  })
})

const step = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
  fc.record({ kind: fc.constant('back' as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
  fc.record({ kind: fc.constantFrom('fail', 'heal', 'restart', 'pause', 'resume'), ms: fc.nat(1) }),
)

it('starts each tick at most once, whatever happens to clocks and processes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      clock = { now: START }
      runs = new Runs()
      kept = storeAt(clock)
      const list = [every('*/20 * * * * *'), every('* * * * *', { name: 'slow', missed: 'skip' })]
      const all = [process(...list), process(...list)] as const
      const doing: Record<string, (ms: number) => unknown> = {
        pass: ms => (clock.now += ms),
        back: ms => (clock.now -= ms),
        fail: () => (runs.failure = new Error('no')),
        heal: () => (runs.failure = undefined),
        restart: () => process(...list).kept.look(),
        pause: () => all[0].kept.pause('echo'),
        resume: () => all[0].kept.resume('echo'),
      }
      let latest = clock.now
      for (const { kind, ms } of steps) {
        await doing[kind]?.(ms)
        latest = Math.max(latest, clock.now)
        await Promise.all(all.map(each => each.kept.look()))
        await Promise.all(all.map(each => each.kept.look()))
      }
      expect(new Set(runs.started).size).toBe(runs.started.length)
      for (const key of runs.started) expect(Number(key.split('@')[1]) % 20_000).toBe(0)
      // In the end it goes on.
      runs.failure = undefined
      await all[0].kept.resume('echo')
      clock.now = latest + 10 * MINUTE
      const before = runs.started.length
      await all[0].catchUp()
      clock.now += MINUTE
      await all[0].catchUp()
      expect(runs.started.length).toBeGreaterThan(before)
    }),
    { numRuns: 60 },
  )
})
