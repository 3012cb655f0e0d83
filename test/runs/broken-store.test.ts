import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLocalHost } from '../../src/runs/local-host.ts'
import { memoryStore } from '../../src/state/memory.ts'
import type { Store } from '../../src/state/store.ts'
import { begin, ending, rest, unique, waitFor } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { openGate, wasStopped } from '../contracts/run-host/scripted.ts'
import { turn } from '../support.ts'

/** A store that throws for as long as it is broken. */
function breakable() {
  const store = memoryStore()
  const broken = { now: false }
  const transact: Store['transact'] = work => {
    if (broken.now) throw new Error('the disk is gone')
    return store.transact(work)
  }
  // Not spread: what is made when it is first asked for stays so.
  const wrapped: Store = Object.create(store, { transact: { value: transact } })
  return { broken, host: createLocalHost({ store: wrapped, settings: SETTINGS, retention: {} }) }
}

describe('createLocalHost over a store that breaks', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(() => {
    process.off('unhandledRejection', note)
  })

  it('stops the run and lets followers go, with nothing unhandled', async () => {
    const { broken, host } = breakable()
    const gate = unique('gate')
    const { id } = await begin(host, [
      { say: 'a' },
      { gate },
      { say: 'b', times: 3 },
      { gate: unique('never') },
    ])
    const followers = await Promise.all([1, 2, 3].map(() => host.follow(id, null, 0)))
    for (const follower of followers) await follower.next()
    const ends = followers.map(follower =>
      rest(follower).then(
        () => 'ended',
        () => 'failed',
      ),
    )
    const waiting = ending(host, id).then(
      () => 'ended',
      () => 'failed',
    )
    broken.now = true
    openGate(gate)
    await waitFor(() => wasStopped(id))
    expect(new Set([...(await Promise.all(ends)), await waiting])).toEqual(new Set(['failed']))
    await turn()
    expect(unhandled).toEqual([])
  })

  it('goes on with a run that wrote nothing in the meantime', async () => {
    const { broken, host } = breakable()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'a' }, { gate }, { say: 'b' }])
    const follower = await host.follow(id, null, 0)
    await follower.next()
    broken.now = true
    await expect(host.get(id, null)).rejects.toThrow('the disk is gone')
    broken.now = false
    openGate(gate)
    expect((await ending(host, id)).result?.text).toBe('ab')
    follower.leave()
  })

  it('leaves no run running for ever whose end could not be written', async () => {
    const { broken, host } = breakable()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'a' }, { gate }, { fail: 'x' }])
    const follower = await host.follow(id, null, 0)
    await follower.next()
    const end = follower.next().catch(() => undefined)
    broken.now = true
    openGate(gate)
    await end
    broken.now = false
    await waitFor(async () => (await host.get(id, null)).status === 'failed')
    expect(unhandled).toEqual([])
  })

  it('starts nothing when the start cannot be written', async () => {
    const { broken, host } = breakable()
    const owner = unique('owner')
    broken.now = true
    await expect(begin(host, [], { owner })).rejects.toThrow('the disk is gone')
    broken.now = false
    expect((await host.list(owner, { limit: 10 })).runs).toEqual([])
  })
})
