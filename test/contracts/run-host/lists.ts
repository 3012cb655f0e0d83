import { beforeAll, expect, it } from 'vitest'
import { begin, ending, type Hosted, listAll, unique } from './kit.ts'

export function listCases(hosted: Hosted): void {
  const owner = unique('lister')
  const never = unique('never')
  const started: string[] = []

  beforeAll(async () => {
    const { host } = hosted()
    for (let i = 0; i < 250; i++) {
      // Where sessions are kept, the next run of a session waits for the one that never ends.
      const options = { sessionId: i === 7 ? 'session-never' : `session-${i % 3}` }
      const acts = i === 7 ? [{ gate: never }] : i % 50 === 1 ? [{ fail: 'x' }] : [{ say: 'hi' }]
      const { id } = await begin(host, acts, { owner, options })
      started.push(id)
      if (i !== 7) await ending(host, id, owner)
    }
  })

  it('page through 250 runs, newest first, each of them once', async () => {
    const { host } = hosted()
    const runs = await listAll(host, owner, { limit: 100 })
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(started))
    expect(runs).toHaveLength(250)
    const times = runs.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
    for (const limit of [1, 7, 99]) {
      const first = await host.list(owner, { limit })
      expect(first.runs).toEqual(runs.slice(0, limit))
      const second = await host.list(owner, { limit, cursor: first.nextCursor ?? undefined })
      expect(second.runs).toEqual(runs.slice(limit, 2 * limit))
    }
  })

  it('end without a cursor, though the last page is full', async () => {
    const { host } = hosted()
    let cursor: string | undefined
    for (let page = 1; page <= 5; page++) {
      const { runs, nextCursor } = await host.list(owner, { limit: 50, cursor })
      expect(runs).toHaveLength(50)
      expect(nextCursor === null).toBe(page === 5)
      cursor = nextCursor ?? undefined
    }
  })

  it('go on where they were while runs are added', async () => {
    const { host } = hosted()
    const added = unique('adder')
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.unshift((await begin(host, [], { owner: added })).id)
    const all = (await listAll(host, added, { limit: 100 })).map(({ id }) => id)
    expect(all.toSorted()).toEqual(ids.toSorted())
    const { nextCursor } = await host.list(added, { limit: 2 })
    await begin(host, [], { owner: added })
    const { runs } = await host.list(added, { limit: 10, cursor: nextCursor ?? undefined })
    expect(runs.map(({ id }) => id)).toEqual(all.slice(2))
  })

  it('hold records without results', async () => {
    const { host } = hosted()
    const { runs } = await host.list(owner, { limit: 1 })
    const { result, ...summary } = await host.get(runs[0]?.id ?? '', owner)
    expect(result?.text).toBe('hi')
    expect(runs).toEqual([summary])
  })

  it('filter', async () => {
    const { host } = hosted()
    const count = async (query: Omit<Parameters<typeof listAll>[2], 'limit'>) =>
      (await listAll(host, owner, { ...query, limit: 20 })).length
    expect(await count({ status: 'running' })).toBe(1)
    expect(await count({ status: 'failed' })).toBe(5)
    expect(await count({ status: 'completed' })).toBe(244)
    expect(await count({ status: 'cancelled' })).toBe(0)
    expect(await count({ sessionId: 'session-0' })).toBe(84)
    expect(await count({ sessionId: 'session' })).toBe(0)
    expect(await count({ sessionId: 'session-never', status: 'running' })).toBe(1)
    expect(await count({ kind: 'agent', name: 'scripted' })).toBe(250)
    expect(await count({ kind: 'team' })).toBe(0)
    expect(await count({ name: 'other' })).toBe(0)
  })

  it('follow a run from running to its end at once', async () => {
    const { host } = hosted()
    const id = started[7] ?? ''
    const running = await host.list(owner, { status: 'running', limit: 10 })
    expect(running.runs.map(run => run.id)).toEqual([id])
    await host.cancel(id, owner)
    expect((await host.list(owner, { status: 'running', limit: 10 })).runs).toEqual([])
    const cancelled = await host.list(owner, { status: 'cancelled', limit: 10 })
    expect(cancelled.runs.map(run => run.id)).toEqual([id])
  })

  it('show a run that has ended under its status, as soon as its end is known', async () => {
    const { host } = hosted()
    for (let i = 0; i < 20; i++) {
      const fresh = unique('fresh')
      const { id } = await begin(host, [{ say: 'hi' }], { owner: fresh })
      await ending(host, id, fresh)
      const { runs } = await host.list(fresh, { status: 'completed', limit: 10 })
      expect(runs.map(run => run.id)).toEqual([id])
    }
  })

  it.each(['', 'x', '!!', '999999', 'é', btoa('x y')])('refuse the cursor %j', async cursor => {
    const { host } = hosted()
    await expect(host.list(owner, { limit: 10, cursor })).rejects.toMatchObject({ code: 'invalid_query' })
  })
}
