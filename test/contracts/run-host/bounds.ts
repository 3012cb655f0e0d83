import { expect, it } from 'vitest'
import { begin, ending, eventsIn, type Hosted, isTerminal, newKey, read, unique, waitFor } from './kit.ts'

/** The cases with `maxRunning: 4` and `maxRunningPerOwner: 2`. */
export function amountCases(hosted: Hosted, countsAll: boolean): void {
  const never = () => ({ gate: unique('never') })

  it('refuse an owner one run too many, until one has ended', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const one = await begin(host, [never()], { owner })
    const two = await begin(host, [never()], { owner })
    await expect(begin(host, [], { owner })).rejects.toMatchObject({ code: 'too_many_runs' })
    const { runs } = await host.list(owner, { limit: 10 })
    expect(runs.map(({ id }) => id).toSorted()).toEqual([one.id, two.id].toSorted())
    await host.cancel(one.id, owner)
    await waitFor(() => begin(host, [], { owner }).then(Boolean, () => false))
    await host.cancel(two.id, owner)
  })

  it('give a run of a key that is at work, though there is no room for another', async () => {
    const { host } = hosted()
    const [owner, key] = [unique('owner'), newKey()]
    const one = await begin(host, [never()], { owner, key })
    const two = await begin(host, [never()], { owner })
    expect((await begin(host, [never()], { owner, key })).id).toBe(one.id)
    for (const { id } of [one, two]) await host.cancel(id, owner)
  })

  it('let a key that was refused be used again', async () => {
    const { host } = hosted()
    const [owner, key] = [unique('owner'), newKey()]
    const one = await begin(host, [never()], { owner })
    const two = await begin(host, [never()], { owner })
    await expect(begin(host, [], { owner, key })).rejects.toMatchObject({ code: 'too_many_runs' })
    for (const { id } of [one, two]) await host.cancel(id, owner)
    await waitFor(() => begin(host, [], { owner, key }).then(Boolean, () => false))
  })

  it('refuse a client without an owner one run too many, and no other client', async () => {
    const { host } = hosted()
    const [one, other] = [unique('address'), unique('address')]
    const first = [
      await begin(host, [never()], { client: one }),
      await begin(host, [never()], { client: one }),
    ]
    const refused = begin(host, [], { client: one })
    await expect(refused).rejects.toMatchObject({ code: 'too_many_runs' })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining(one) })
    const second = await begin(host, [never()], { client: other })
    for (const { id } of first) await host.cancel(id, null)
    await waitFor(() => begin(host, [], { client: one }).then(Boolean, () => false))
    await host.cancel(second.id, null)
  })

  it('refuse one run too many of all who are unknown', async () => {
    const { host } = hosted()
    const started = [await begin(host, [never()]), await begin(host, [never()])]
    await expect(begin(host, [])).rejects.toMatchObject({ code: 'too_many_runs' })
    for (const { id } of started) await host.cancel(id, null)
    await waitFor(() => begin(host, []).then(Boolean, () => false))
  })

  it('refuse one run too many of all clients without an owner together', async () => {
    const { host } = hosted()
    const started = []
    for (let i = 0; i < 4; i++) started.push(await begin(host, [never()], { client: unique('address') }))
    const fifth = begin(host, [], { client: unique('address') })
    await expect(fifth).rejects.toMatchObject({ code: 'too_many_runs' })
    for (const { id } of started) await host.cancel(id, null)
    await waitFor(() => begin(host, []).then(Boolean, () => false))
  })

  if (countsAll)
    it('refuse one run too many of all owners together', async () => {
      const { host } = hosted()
      const owners = [1, 2, 3, 4].map(() => unique('owner'))
      const started = await Promise.all(owners.map(owner => begin(host, [never()], { owner })))
      try {
        const fifth = begin(host, [], { owner: unique('owner') })
        await expect(fifth).rejects.toMatchObject({ code: 'too_many_runs' })
      } finally {
        for (const [i, { id }] of started.entries()) await host.cancel(id, owners[i] ?? null)
      }
    })
}

/** The cases with `maxFollowers: 2`. */
export function crowdCases(hosted: Hosted): void {
  it('refuse one too many, until one has left', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }, { gate: unique('never') }])
    const [one, two] = [await host.follow(id, null, 0), await host.follow(id, null, 0)]
    await expect(host.follow(id, null, 0)).rejects.toMatchObject({ code: 'too_many_followers' })
    await expect(ending(host, id)).rejects.toMatchObject({ code: 'too_many_followers' })
    one.leave()
    let third = one
    await waitFor(async () => {
      third = await host.follow(id, null, 0)
      return true
    })
    expect(await third.next()).toMatchObject([{ seq: 1 }])
    await host.cancel(id, null)
    two.leave()
    third.leave()
  })

  it('hold for runs at work only', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }])
    await ending(host, id)
    const followers = await Promise.all([1, 2, 3, 4].map(() => host.follow(id, null, 0)))
    for (const follower of followers) expect(await follower.next()).toHaveLength(2)
    for (const follower of followers) follower.leave()
  })
}

/** The cases with `maxBytes: 2000`, `maxEvents: 20` and `timeoutMs: 300`. */
export function lengthCases(hosted: Hosted): void {
  const ends = async (acts: Parameters<typeof begin>[1]) => {
    const { host } = hosted()
    const { id } = await begin(host, acts)
    const record = await ending(host, id)
    const events = eventsIn(await read(host, id))
    expect(events.filter(isTerminal)).toEqual(events.slice(-1))
    return { id, record, events }
  }

  it('fail one with too many bytes, which keeps what it had', async () => {
    const { id, record, events } = await ends([{ say: 'x'.repeat(500), times: 10 }])
    expect(record).toMatchObject({ status: 'failed', error: { code: 'run_too_large' } })
    expect(events).toHaveLength(4)
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'run_too_large' })
    expect(await hosted().wasStopped(id)).toBe(true)
  })

  it('fail one whose single event is too large', async () => {
    const { record, events } = await ends([{ say: 'small' }, { say: 'x'.repeat(5000) }])
    expect(record.error?.code).toBe('run_too_large')
    expect(events.map(({ type }) => type)).toEqual(['text', 'error'])
  })

  it('let one end that has filled its bytes to the brim', async () => {
    const { record } = await ends([{ say: 'x'.repeat(1960) }])
    expect(record.status).toMatch(/^(completed|failed)$/)
  })

  it('let one end, one way or the other, whose end is too large', async () => {
    const structured = { text: 'x'.repeat(5000) }
    const { record } = await ends([{ say: 'hi' }, { finish: { finishReason: 'stop', structured } }])
    expect(record.status).toMatch(/^(completed|failed)$/)
  })

  it('fail one with too many events', async () => {
    const { record, events } = await ends([{ say: 'x', times: 50 }])
    expect(record.error?.code).toBe('run_too_large')
    expect(events).toHaveLength(21)
  })

  it('fail one that takes too long', async () => {
    const { id, record, events } = await ends([{ say: 'hi' }, { gate: unique('never') }])
    expect(record).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } })
    expect(events).toHaveLength(2)
    expect(await hosted().wasStopped(id)).toBe(true)
  })

  it('cancel no run that has failed for them', async () => {
    const { id } = await ends([{ say: 'x', times: 50 }])
    await expect(hosted().host.cancel(id, null)).rejects.toMatchObject({ code: 'run_ended' })
  })
}
