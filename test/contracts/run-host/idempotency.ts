import { expect, it } from 'vitest'
import { begin, ending, eventsIn, type Hosted, newKey, read, unique } from './kit.ts'

/** `atOnce`: how many ask for one run at the same instant. `rounds`: how often. */
export function keyCases(hosted: Hosted, { atOnce, rounds }: { atOnce: number; rounds: number }): void {
  it('gives the run that is still at work, and the one that has ended', async () => {
    const { host, openGate, countOf } = hosted()
    const [key, gate, count] = [newKey(), unique('gate'), unique('count')]
    const acts = [{ count }, { say: 'hi' }, { gate }]
    const first = await begin(host, acts, { key })
    expect((await begin(host, acts, { key })).id).toBe(first.id)
    const following = read(host, first.id)
    await openGate(gate)
    expect(eventsIn(await following)).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'finish', finishReason: 'stop' },
    ])
    const again = await begin(host, acts, { key })
    expect(again).toMatchObject({ id: first.id, status: 'completed' })
    expect((await ending(host, again.id)).result?.text).toBe('hi')
    expect(await countOf(count)).toBe(1)
  })

  it('refuses another body, while the run is at work and after', async () => {
    const { host, openGate, countOf } = hosted()
    const [key, gate, count] = [newKey(), unique('gate'), unique('count')]
    const { id } = await begin(host, [{ gate }], { key })
    const other = () => begin(host, [{ count }], { key: { ...key, fingerprint: 'other' } })
    await expect(other()).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    await openGate(gate)
    await ending(host, id)
    await expect(other()).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    expect(await countOf(count)).toBe(0)
  })

  it('starts a run of its own', async () => {
    const { host } = hosted()
    const [one, two] = [await begin(host, [], { key: newKey() }), await begin(host, [], { key: newKey() })]
    expect(one.id).not.toBe(two.id)
    expect((await begin(host, [])).id).not.toBe((await begin(host, [])).id)
  })

  it('gives a run that has failed or was cancelled, too', async () => {
    const { host } = hosted()
    const [failing, cancelled] = [newKey(), newKey()]
    const { id } = await begin(host, [{ fail: 'broken' }], { key: failing })
    await ending(host, id)
    expect(await begin(host, [{ fail: 'broken' }], { key: failing })).toMatchObject({ id, status: 'failed' })
    const { id: other } = await begin(host, [{ gate: unique('never') }], { key: cancelled })
    await host.cancel(other, null)
    expect(await begin(host, [], { key: cancelled })).toMatchObject({ id: other, status: 'cancelled' })
  })

  // Each run is synced to the disk, which takes long if others do the same.
  it(`starts one run when ${atOnce} ask at the same instant, ${rounds} times`, {
    timeout: 120_000,
  }, async () => {
    const { host, countOf } = hosted()
    for (let round = 0; round < rounds; round++) {
      const [key, count] = [newKey(), unique('count')]
      const asking = Array.from({ length: atOnce }, () => begin(host, [{ count }, { say: 'hi' }], { key }))
      const ids = new Set((await Promise.all(asking)).map(({ id }) => id))
      expect(ids.size).toBe(1)
      for (const id of ids) expect((await ending(host, id)).result?.text).toBe('hi')
      expect(await countOf(count)).toBe(1)
    }
  })

  it('lets one of two bodies through that come at the same instant', async () => {
    const { host } = hosted()
    const key = newKey()
    const asking = ['one', 'two'].map(fingerprint => begin(host, [], { key: { ...key, fingerprint } }))
    const settled = await Promise.allSettled(asking)
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const refused = settled.find(({ status }) => status === 'rejected')
    expect(refused).toMatchObject({ reason: { code: 'idempotency_mismatch' } })
  })
}
