import { expect, it } from 'vitest'
import type { StoredLogEntry } from '../../../src/stores/store.ts'
import { begin, ending, eventsIn, type Hosted, isTerminal, read, rest, unique, waitFor } from './kit.ts'

/** The numbers from `from` to `to`. */
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const places = (entries: readonly StoredLogEntry[]) => entries.map(({ seq }) => seq)

export function followCases(hosted: Hosted): void {
  it('read a run that has ended from any place, and nothing beyond its end', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'x', times: 199 }])
    await ending(host, id)
    const all = await read(host, id)
    expect(places(all)).toEqual(numbers(1, 200))
    for (const after of [1, 63, 64, 65, 128, 198, 199]) {
      expect(await read(host, id, after)).toEqual(all.slice(after))
    }
    for (const after of [200, 201, 1_000_000, 999_999_999_999_999]) {
      expect(await read(host, id, after)).toEqual([])
    }
  })

  it('read pages of a run, without waiting for what comes', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'x', times: 99 }, { gate }, { say: 'y', times: 100 }])
    const running = async () => (await host.events(id, null, { after: 0, limit: 1000 })).entries.length
    await waitFor(async () => (await running()) === 99)
    expect(await host.events(id, null, { after: 99, limit: 10 })).toEqual({ entries: [], ended: false })
    await openGate(gate)
    await ending(host, id)
    const all = await read(host, id)
    const page = (after: number, limit: number) => host.events(id, null, { after, limit })
    expect(await page(0, 1000)).toEqual({ entries: all, ended: true })
    for (const [after, limit] of [
      [0, 1],
      [0, 64],
      [5, 65],
      [130, 69],
    ] as const) {
      expect(await page(after, limit)).toEqual({ entries: all.slice(after, after + limit), ended: false })
    }
    expect(await page(130, 70)).toEqual({ entries: all.slice(130), ended: true })
    expect(await page(200, 1)).toEqual({ entries: [], ended: true })
    await expect(host.events(unique('run'), null, { after: 0, limit: 1 })).rejects.toMatchObject({
      code: 'run_not_found',
    })
  })

  it('wait for what comes', async () => {
    const { host, openGate } = hosted()
    const [one, two] = [unique('gate'), unique('gate')]
    const { id } = await begin(host, [{ say: 'a' }, { gate: one }, { say: 'b' }, { gate: two }, { say: 'c' }])
    const follower = await host.follow(id, null, 0)
    expect(places((await follower.next()) ?? [])).toEqual([1])
    await openGate(one)
    expect(places((await follower.next()) ?? [])).toEqual([2])
    await openGate(two)
    expect(places(await rest(follower))).toEqual([3, 4])
    expect(await follower.next()).toBeUndefined()
  })

  it('that begin beyond the end of a run at work get what lies there, or its end', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'a' }, { gate }, { say: 'b', times: 5 }])
    const [near, far] = [read(host, id, 4), read(host, id, 1000)]
    await openGate(gate)
    expect(places(await near)).toEqual([5, 6, 7])
    expect(await far).toEqual([])
  })

  it('see the same order and the same places, all 50 of them', async () => {
    const { host, openGate } = hosted()
    const gates = numbers(1, 5).map(() => unique('gate'))
    const acts = gates.flatMap((gate, i) => [{ gate }, { say: `${i} `, times: 30 }])
    const { id } = await begin(host, acts)
    const followers = numbers(1, 50).map(async i => {
      if (i > 25) await openGate(gates[i % 5] ?? '')
      return read(host, id)
    })
    const all = await Promise.all(followers)
    expect(places(all[0] ?? [])).toEqual(numbers(1, 151))
    for (const entries of all) expect(entries).toEqual(all[0])
    expect(eventsIn(all[0] ?? []).filter(isTerminal)).toHaveLength(1)
  })

  it('that come back at any place miss nothing and see nothing twice', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'x', times: 100 }, { gate }, { say: 'y', times: 99 }])
    const joined: StoredLogEntry[] = []
    while (joined.length < 100) {
      const follower = await host.follow(id, null, joined.length)
      joined.push(...((await follower.next()) ?? []).slice(0, 7))
      follower.leave()
    }
    await openGate(gate)
    while (true) {
      const follower = await host.follow(id, null, joined.length)
      const batch = await follower.next()
      follower.leave()
      if (batch === undefined) break
      joined.push(...batch.slice(0, 13))
    }
    expect(joined).toEqual(await read(host, id))
  })

  it('that are slow keep neither the run nor others waiting, and lose nothing', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'x'.repeat(100), times: 5000 }])
    const slow = await host.follow(id, null, 0)
    const first = (await slow.next()) ?? []
    const quick = await read(host, id)
    expect(quick).toHaveLength(5001)
    expect((await ending(host, id)).status).toBe('completed')
    const batches = [first]
    for (let batch = await slow.next(); batch; batch = await slow.next()) batches.push([...batch])
    expect(batches.flat()).toEqual(quick)
  })

  it('that have left get nothing more', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'a' }, { gate: unique('never') }])
    const follower = await host.follow(id, null, 0)
    await follower.next()
    const waiting = follower.next()
    follower.leave()
    follower.leave()
    expect(await waiting).toBeUndefined()
    expect(await follower.next()).toBeUndefined()
    expect((await host.get(id, null)).status).toBe('running')
    await host.cancel(id, null)
  })
}
