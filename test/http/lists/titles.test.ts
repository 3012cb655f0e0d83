import { describe, expect, it } from 'vitest'
import { guards } from '../../../src/features/guards/plugin.ts'
import { queue } from '../../../src/features/queue/plugin.ts'
import { listing, STATES } from './kit.ts'

describe.each(STATES)('titles of runs in %s', (_, make) => {
  it('are the first lines of their inputs, in records and lists', async () => {
    const { list, run } = listing(make())
    const { title } = await run('ann', 'says', '\n  Plan a   trip\nto Rome')
    expect(title).toBe('Plan a trip')
    await run('ann', 'fails', 'x'.repeat(500))
    await run('ann', 'says', [{ type: 'image', data: 'aGk=' }])
    const { runs } = await list('ann', '')
    expect(runs.map(({ title }) => title)).toEqual([undefined, `${'x'.repeat(119)}…`, 'Plan a trip'])
  })

  it('are kept where inputs are', async () => {
    const { run } = listing(make(), { runs: { keepInput: false } })
    expect(await run('ann', 'says', 'Hello')).not.toHaveProperty('title')
  })

  it('are those of runs that wait in a queue, too', async () => {
    const { list, run, start, open, ask } = listing(make(), {
      runs: { keepInput: true, maxRunning: 1 },
      plugins: [queue()],
    })
    await start('ann', 'waits', 'The first')
    const { id, status, title } = await start('ann', 'says', 'The second')
    expect([status, title]).toEqual(['queued', 'The second'])
    expect((await list('ann', '')).runs.map(({ title }) => title)).toEqual(['The second', 'The first'])
    open()
    await expect.poll(async () => (await (await ask('ann', `/runs/${id}`)).json()).status).toBe('completed')
    expect((await list('ann', '')).runs.map(({ title }) => title)).toEqual(['The second', 'The first'])
    await run('ann', 'says', 'The third')
  })

  it('are hidden from roles that may not read inputs', async () => {
    const access = {
      ops: ['admin', 'list', 'read', 'cancel'] as const,
      boss: ['admin', 'list', 'read', 'read_input'] as const,
    }
    const { ask, list, run, start } = listing(make(), { access, admin: true })
    const { id } = await run('ann', 'says', 'A secret')
    await run('eve ops', 'says', 'My own')
    const titlesOf = async (user: string, query: string) =>
      (await list(user, query)).runs.map(({ title }) => title)
    expect(await titlesOf('eve ops', 'owner=*')).toEqual(['My own', undefined])
    expect(await titlesOf('eve ops', 'owner=ann')).toEqual([undefined])
    expect(await titlesOf('bob boss', 'owner=*')).toEqual(['My own', 'A secret'])
    expect(await titlesOf('bob boss', 'owner=ann')).toEqual(['A secret'])
    const titleOf = async (user: string, path: string, init?: RequestInit) =>
      (await (await ask(user, path, init)).json()).title
    expect(await titleOf('eve ops', `/runs/${id}?owner=ann`)).toBeUndefined()
    expect(await titleOf('bob boss', `/runs/${id}?owner=ann`)).toBe('A secret')
    const { id: waiting } = await start('ann', 'waits', 'Another')
    const cancelled = await ask('eve ops', `/runs/${waiting}/cancel?owner=ann`, { method: 'POST' })
    const { status, title } = await cancelled.json()
    expect([status, title]).toEqual(['cancelled', undefined])
    const found = async (user: string) => (await (await ask(user, `/admin/runs/${id}`)).json()).runs[0]
    expect(await found('eve ops')).toMatchObject({ id, owner: 'ann' })
    expect(await found('eve ops')).not.toHaveProperty('title')
    expect(await found('bob boss')).toMatchObject({ title: 'A secret' })
  })

  it('are hidden in the live list, too', async () => {
    const { ask, run } = listing(make())
    await run('ann', 'says', 'A secret')
    const first = async (user: string) => {
      const response = await ask(user, '/runs?owner=*', { headers: { accept: 'text/event-stream' } })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      const { value } = await reader.read()
      await reader.cancel()
      return value
    }
    expect(await first('eve viewer')).not.toContain('secret')
    expect(await first('eve operator')).toContain('A secret')
  })

  it('are made after the filters of inputs', async () => {
    const { run } = listing(make(), {
      plugins: [guards({ onInput: ({ input }) => ({ input: String(input).replace(/\d+/, '•') }) })],
    })
    expect((await run('ann', 'says', 'My PIN is 1234')).title).toBe('My PIN is •')
  })
})
