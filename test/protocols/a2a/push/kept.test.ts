import { describe, expect, it } from 'vitest'
import { addPush, claimDue, nextDue, readPush, savePush } from '../../../../src/protocols/a2a/push/kept.ts'
import { memoryStore } from '../../../../src/stores/memory.ts'

const MINUTE = 60_000
const claim = { holder: 'me', maxWaitMs: 10 * MINUTE, admits: () => true }

/** A store with a config that is due at that moment. */
function dueAt(at: number) {
  const store = memoryStore()
  const config = { id: 'c', url: 'https://receiver.example', version: '1.0' } as const
  store.transact(tx => {
    addPush(tx, 'task', config, { seq: 0, max: 1, client: undefined })
    savePush(tx, readPush(tx, 'task', 'c'), at)
  })
  const claimAt = (now: number) =>
    store.transact(tx => claimDue(tx, 10, { ...claim, now, until: now + MINUTE })).claimed.length
  return { store, claimAt }
}

describe('claimDue', () => {
  const now = Date.now()

  it('takes what is due, and leaves what waits for its next try', () => {
    expect(dueAt(now).claimAt(now)).toBe(1)
    expect(dueAt(now + 9 * MINUTE).claimAt(now)).toBe(0)
  })

  it('does not wait for a clock that has been set back to catch up', () => {
    const { store, claimAt } = dueAt(now + 60 * MINUTE)
    expect(claimAt(now)).toBe(1)
    expect(store.transact(tx => nextDue(tx))).toBe(now + MINUTE)
    expect(claimAt(now)).toBe(0)
  })
})
