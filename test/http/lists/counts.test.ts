import { describe, expect, it } from 'vitest'
import { queue } from '../../../src/features/queue/plugin.ts'
import { type Agent, memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { listing, STATES } from './kit.ts'

describe.each(STATES)('counts of runs in %s', (_, make) => {
  it('are of all pages of what was asked for', async () => {
    const { list, run } = listing(make())
    for (const agent of ['says', 'says', 'fails', 'says']) await run('ann', agent, 'x')
    await run('bob', 'says', 'x')
    const countOf = async (user: string, query: string) => {
      const { runs, count, countIsCut } = await list(user, query)
      return [runs.length, count, countIsCut]
    }
    expect(await countOf('ann', 'limit=2')).toEqual([2, undefined, undefined])
    expect(await countOf('ann', 'limit=2&count=true')).toEqual([2, 4, undefined])
    expect(await countOf('ann', 'limit=1&count=true&name=says&status=completed')).toEqual([1, 3, undefined])
    expect(await countOf('ann', 'count=true&until=2020-01-01T00:00:00Z')).toEqual([0, 0, undefined])
    expect(await countOf('eve operator', 'limit=1&count=true&owner=*')).toEqual([1, 5, undefined])
    expect(await countOf('eve operator', 'limit=1&count=true&owner=bob')).toEqual([1, 1, undefined])
    const { nextCursor } = await list('ann', 'limit=2')
    expect(await countOf('ann', `limit=9&count=true&cursor=${nextCursor}`)).toEqual([2, 4, undefined])
  })

  it('need `true`', async () => {
    const { ask } = listing(make())
    const answer = await ask('ann', '/runs?count=1')
    expect([answer.status, (await answer.json()).error]).toEqual([400, expect.stringContaining('count')])
  })

  it('have those that wait in the queue', async () => {
    const { list, start } = listing(make(), { runs: { maxRunning: 1 }, plugins: [queue()] })
    for (let i = 0; i < 4; i++) await start('ann', 'waits', `Number ${i}`)
    const countOf = async (query: string) => (await list('ann', `count=true&limit=2&${query}`)).count
    expect([await countOf(''), await countOf('status=queued'), await countOf('status=running')]).toEqual([
      4, 3, 1,
    ])
    expect([await countOf('name=says'), await countOf('waiting=true')]).toEqual([0, 0])
  })
})

it.each([
  ['memory', () => memoryState({ maxRuns: 5000 })],
  ['SQLite', () => sqliteState({ path: ':memory:' })],
])('a count looks at the newest 1,000 runs in %s, and says so', async (_, make) => {
  const { list, start } = listing(make(), {
    agents: { one: { name: 'one', run: () => '1' } as unknown as Agent },
    runs: { maxRunning: 5000, maxRunningPerOwner: 5000 },
    plugins: [],
  })
  for (let i = 0; i < 1000; i++) await start('ann', 'one', 'x')
  const countOf = async () => {
    const { count, countIsCut } = await list('ann', 'count=true&limit=1')
    return { count, countIsCut }
  }
  expect(await countOf()).toEqual({ count: 1000 })
  await start('ann', 'one', 'x')
  expect(await countOf()).toEqual({ count: 1000, countIsCut: true })
})
