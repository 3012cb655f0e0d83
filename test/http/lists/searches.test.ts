import { describe, expect, it } from 'vitest'
import { queue } from '../../../src/features/queue/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { listing, STATES } from './kit.ts'

describe.each(STATES)('searches in runs in %s', (_, make) => {
  const service = (options = {}) => {
    const { list, ...rest } = listing(make(), options)
    const titlesOf = async (user: string, search: string, query = '') =>
      (await list(user, `search=${encodeURIComponent(search)}${query}`)).runs.map(({ title }) => title)
    return { list, titlesOf, ...rest }
  }

  it('find inputs, outputs and errors, in lower case', async () => {
    const { run, titlesOf } = service()
    await run('ann', 'says', 'A trip to Rome\nand then to 100% Paris')
    await run('ann', 'fails', 'Tokyo')
    await run('ann', 'says', `Long${' and longer'.repeat(300)} until the end`)
    expect(await titlesOf('ann', 'rome')).toEqual(['A trip to Rome'])
    expect(await titlesOf('ann', 'PARIS')).toEqual(['A trip to Rome'])
    expect(await titlesOf('ann', '100%')).toEqual(['A trip to Rome'])
    expect(await titlesOf('ann', 'you said')).toEqual([expect.stringContaining('Long'), 'A trip to Rome'])
    expect(await titlesOf('ann', 'internal')).toEqual(['Tokyo'])
    // The error is masked, as its record's is.
    expect(await titlesOf('ann', 'hunter2')).toEqual([])
    expect(await titlesOf('ann', 'until the end')).toEqual([])
    expect(await titlesOf('bob', 'rome')).toEqual([])
    expect(await titlesOf('ann', 'o', '&name=fails')).toEqual(['Tokyo'])
    expect(await titlesOf('ann', 'o', '&status=completed&limit=1')).toEqual([expect.stringContaining('Long')])
  })

  it('find no inputs where these are not kept', async () => {
    const { run, list } = service({ runs: { keepInput: false } })
    await run('ann', 'fails', 'Rome')
    expect((await list('ann', 'search=rome')).runs).toEqual([])
    expect((await list('ann', 'search=internal')).runs.length).toBe(1)
  })

  it('find runs at work and in the queue by their titles', async () => {
    const { start, titlesOf, list } = service({
      runs: { keepInput: true, maxRunning: 1 },
      plugins: [queue()],
    })
    await start('ann', 'waits', 'Rome today')
    await start('ann', 'waits', 'Rome tomorrow')
    await start('ann', 'waits', 'Paris')
    expect(await titlesOf('ann', 'rome')).toEqual(['Rome tomorrow', 'Rome today'])
    expect((await list('ann', 'search=ROME&count=true&limit=1')).count).toBe(2)
  })

  it('are counted, and go on page by page', async () => {
    const { run, list } = service()
    for (let i = 0; i < 6; i++) await run('ann', 'says', `${i % 2 ? 'Odd' : 'Even'} ${i}`)
    const first = await list('ann', 'search=odd&limit=2&count=true')
    expect(first.runs.map(({ title }) => title)).toEqual(['Odd 5', 'Odd 3'])
    expect(first.count).toBe(3)
    const second = await list('ann', `search=odd&limit=2&cursor=${first.nextCursor}`)
    expect(second.runs.map(({ title }) => title)).toEqual(['Odd 1'])
    expect(second.nextCursor).toBeNull()
  })

  it('need 1 to 200 characters', async () => {
    const { ask } = service()
    for (const search of ['', 'x'.repeat(201)]) {
      for (const path of ['runs', 'sessions']) {
        const answer = await ask('ann', `/${path}?search=${search}`)
        expect([answer.status, await answer.json()]).toEqual([
          400,
          expect.objectContaining({ code: 'invalid_query', error: expect.stringContaining('search') }),
        ])
      }
    }
    expect((await ask('ann', `/runs?search=${'x'.repeat(200)}`)).status).toBe(200)
  })

  it('in the runs of others need the right to read inputs', async () => {
    const { run, ask, titlesOf } = service()
    await run('ann', 'says', 'Rome')
    expect(await titlesOf('eve operator', 'rome', '&owner=*')).toEqual(['Rome'])
    expect(await titlesOf('eve operator', 'rome', '&owner=ann')).toEqual(['Rome'])
    for (const owner of ['*', 'ann']) {
      const refused = await ask('eve viewer', `/runs?search=rome&owner=${owner}`)
      const without = await ask('eve', `/runs?search=rome&owner=${owner}`)
      expect(refused.status).toBe(404)
      expect(await refused.json()).toEqual({ ...(await without.json()), requestId: expect.anything() })
      expect((await ask('eve viewer', `/runs?owner=${owner}`)).status).toBe(200)
    }
    expect(await titlesOf('eve viewer', 'rome')).toEqual([])
  })

  it('forget a deleted run', async () => {
    const { run, ask, titlesOf } = service()
    await run('ann', 'says', 'Rome')
    expect(await titlesOf('ann', 'rome')).toEqual(['Rome'])
    expect((await ask('ann', '/users/me', { method: 'DELETE' })).status).toBe(204)
    expect(await titlesOf('ann', 'rome')).toEqual([])
  })

  it('are followed by the live list', async () => {
    const { run, ask } = service()
    await run('ann', 'says', 'Rome')
    await run('ann', 'says', 'Paris')
    const response = await ask('ann', '/runs?search=rome', { headers: { accept: 'text/event-stream' } })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await reader.read()).value
    expect([first?.includes('Rome'), first?.includes('Paris')]).toEqual([true, false])
    await run('ann', 'says', 'London')
    await run('ann', 'says', 'Rome again')
    const second = (await reader.read()).value
    expect([second?.includes('Rome again'), second?.includes('London')]).toEqual([true, false])
    await reader.cancel()
  })

  it('in sessions are of their titles', async () => {
    const { ask } = service()
    for (const title of ['A trip to Rome', 'A trip to Paris'])
      await ask('ann', '/sessions', jsonRequest({ name: 'says', title }))
    const found = async (search: string) =>
      (await (await ask('ann', `/sessions?search=${search}`)).json()).sessions.map(
        ({ title }: { title: string }) => title,
      )
    expect(await found('ROME')).toEqual(['A trip to Rome'])
    expect((await found('trip')).length).toBe(2)
    expect(await found('london')).toEqual([])
  })
})
