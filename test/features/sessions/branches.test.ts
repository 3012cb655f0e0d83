/** What is left of a session when its branches are deleted, by people or past its limits. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { branchesOf, deleteBranch } from '../../../src/features/sessions/branches.ts'
import { readTurns, visible } from '../../../src/features/sessions/turns.ts'
import { appendSession, readSession } from '../../../src/runs/sessions/session-memory.ts'
import { LEASE_MS, type SessionSettings } from '../../../src/runs/sessions/session-record.ts'
import { enterSession, leaveSession } from '../../../src/runs/sessions/session-turns.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { settings, turn } from '../../runs/sessions/session-kit.ts'

const key = { owner: 'ann', place: ['team:t'], sessionId: 's' }
const member = { ...key, member: ['agent:m'] }

afterEach(() => vi.useRealTimers())

/** A session of an owner. Each message has the id of its run, and a member learns it. */
function kept(given: Partial<SessionSettings> = {}) {
  const store = memoryStore()
  const all = { ...settings, ...given }
  const begin = (runId: string, replaces?: string) =>
    store.write(tx => enterSession(tx, key, { ...turn(runId), replaces }, all))
  return {
    begin,
    say(runId: string, replaces?: string) {
      begin(runId, replaces)
      store.write(tx => appendSession(tx, member, { messages: [`of ${runId}`] }, all))
      const end = { ...turn(runId), status: 'completed', endedAt: 1, text: `of ${runId}` } as const
      store.write(tx => leaveSession(tx, key, end, undefined, all))
    },
    remove: (runId: string) => store.write(tx => deleteBranch(tx, key, runId)),
    learned: () => store.read(tx => readSession(tx, member, {}, all)).messages,
    last: () => store.read(tx => visible(tx, key))?.about?.last,
    branches: () => store.read(tx => branchesOf(tx, key)) ?? [],
    turns: () => store.read(tx => readTurns(tx, key, { limit: 100 }))?.turns ?? [],
  }
}

describe('branches that are deleted', () => {
  it('leave the last message of the branch that counts then, also where they began with the first one', () => {
    const { say, remove, last, branches } = kept()
    say('a')
    say('b', 'a')
    remove('b')
    expect(branches()).toMatchObject([{ runId: 'a', isHead: true }])
    expect(last()).toBe('of a')
    remove('a')
    expect(last()).toBeUndefined()
  })

  it('take with them what members learned there', () => {
    const { say, remove, learned } = kept()
    for (const run of ['a', 'b', 'c']) say(run)
    remove('b')
    expect(learned()).toEqual(['of a'])
    say('d')
    say('e', 'd')
    remove('d')
    expect(learned()).toEqual(['of a', 'of e'])
  })

  it('past the limits, too', () => {
    const { say, learned, turns } = kept({ maxTurns: 3 })
    for (const run of ['a', 'b', 'c']) say(run)
    say('d', 'b')
    expect(turns().map(({ runId }) => runId)).toEqual(['d', 'a'])
    expect(learned()).toEqual(['of a', 'of d'])
  })

  it('are no alternatives any more, also one of a run that was thought dead', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { begin, say, remove, turns } = kept()
    for (const run of ['a', 'b']) say(run)
    say('c', 'b')
    begin('d', 'b')
    vi.setSystemTime(Date.now() + LEASE_MS + 1)
    remove('d')
    say('e', 'b')
    expect(turns()[0]?.alternatives).toEqual(['b', 'c', 'e'])
  })

  it('leave room for others: every message of a long session can be asked again', () => {
    const { say, turns } = kept()
    for (let place = 0; place < 220; place++) {
      say(`first ${place}`)
      say(`second ${place}`, `first ${place}`)
    }
    expect(turns()[0]?.alternatives).toEqual(['first 219', 'second 219'])
  })
})
