import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { answer, kept } from './answering.ts'
import { begin, ending, type Hosted, listAll, newKey, read, unique } from './kit.ts'

export function deleteCases(hosted: Hosted): void {
  const missing = { code: 'run_not_found' }

  it('leaves nothing of a run: its record, log, result, feedback and key', async () => {
    const { host, countOf } = hosted()
    const [owner, count] = [unique('owner'), unique('count')]
    const key = newKey()
    const acts = [{ count }, { say: 'hi' }]
    const { id } = await begin(host, acts, { owner, key })
    await ending(host, id, owner)
    await host.feedback(id, owner, { text: 'fine' })
    await host.delete(id, owner)
    await expect(host.get(id, owner)).rejects.toMatchObject(missing)
    await expect(host.follow(id, owner, 0)).rejects.toMatchObject(missing)
    await expect(host.delete(id, owner)).rejects.toMatchObject(missing)
    await expect(host.feedback(id, owner)).rejects.toMatchObject(missing)
    expect(await listAll(host, owner, { limit: 10 })).toEqual([])
    // The key stands for another run now.
    const again = await begin(host, acts, { owner, key })
    expect(again.id).not.toBe(id)
    await ending(host, again.id, owner)
    expect(await countOf(count)).toBe(2)
    await host.delete(again.id, owner)
    const other = await begin(host, [], { owner, key: { ...key, fingerprint: 'other' } })
    expect(await ending(host, other.id, owner)).toMatchObject({ status: 'completed' })
  })

  it('leaves a run at work alone, and takes it once it is cancelled', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'a' }, { gate: unique('never') }])
    await expect(host.delete(id, null)).rejects.toMatchObject({ code: 'session_busy' })
    expect((await host.get(id, null)).status).toBe('running')
    await host.cancel(id, null)
    await host.delete(id, null)
    await expect(host.get(id, null)).rejects.toMatchObject(missing)
  })

  it('is for the owner alone', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const { id } = await begin(host, [{ say: 'hi' }], { owner })
    await ending(host, id, owner)
    for (const viewer of [null, 'someone-else']) {
      await expect(host.delete(id, viewer)).rejects.toMatchObject(missing)
      await expect(host.feedback(id, viewer, { score: 1 })).rejects.toMatchObject(missing)
    }
    expect(await read(host, id, 0, owner)).toHaveLength(2)
    await expect(host.delete(randomUUID(), owner)).rejects.toMatchObject(missing)
  })

  it('takes what a run waits for: nobody answers it any more', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const id = await kept(host, [{ ask: ['a'] }], owner)
    await host.delete(id, owner)
    await expect(answer(host, id, { a: 1 }, { owner })).rejects.toMatchObject(missing)
  })
}

export function feedbackCases(hosted: Hosted): void {
  it('is kept with a run that has ended, the last one alone', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const { id } = await begin(host, [{ say: 'hi' }], { owner })
    await ending(host, id, owner)
    expect(await host.feedback(id, owner)).toBeUndefined()
    await host.feedback(id, owner, { score: -1, text: 'bad' })
    const given = await host.feedback(id, owner, { score: 0.5 })
    expect(given).toEqual({ score: 0.5, at: expect.any(Number) })
    expect(await host.feedback(id, owner)).toEqual(given)
  })

  it('is in the record, and finds the run in lists', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const runs: string[] = []
    for (const given of [{ score: 1 }, { score: -0.1, text: 'bad' }, { text: 'well' }, undefined]) {
      const { id } = await begin(host, [{ say: 'hi' }], { owner })
      const before = await ending(host, id, owner)
      if (given !== undefined) await host.feedback(id, owner, given)
      const { feedback: _, ...after } = await host.get(id, owner)
      expect(after).toEqual(before)
      runs.unshift(id)
    }
    const [silent, neutral, negative, positive] = runs
    const found = async (feedback: 'any' | 'positive' | 'negative' | 'neutral', more: object = {}) =>
      (await listAll(host, owner, { limit: 10, feedback, ...more })).map(({ id, feedback }) => [id, feedback])
    expect(await found('positive')).toEqual([[positive, 'positive']])
    expect(await found('negative')).toEqual([[negative, 'negative']])
    expect(await found('neutral', { status: 'completed' })).toEqual([[neutral, 'neutral']])
    expect((await found('any')).map(([id]) => id)).toEqual([neutral, negative, positive])
    expect((await host.get(silent!, owner)).feedback).toBeUndefined()
    // Another word takes the place of the one before, also if it was said of the turn.
    await host.rate(positive!, owner, 'negative')
    expect(await found('positive')).toEqual([])
    expect((await found('negative')).map(([id]) => id)).toEqual([negative, positive])
    await expect(host.rate(positive!, null, 'positive')).rejects.toMatchObject({ code: 'run_not_found' })
  })

  it('is refused while the run is at work', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ gate: unique('never') }])
    await expect(host.feedback(id, null, { score: 1 })).rejects.toMatchObject({ code: 'session_busy' })
    expect(await host.feedback(id, null)).toBeUndefined()
    await host.cancel(id, null)
    expect(await host.feedback(id, null, { score: 1 })).toMatchObject({ score: 1 })
  })
}
