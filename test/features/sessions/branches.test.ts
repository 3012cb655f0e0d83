/** What is left of a session when its branches are deleted, by people or past its limits. */

import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { branchesOf, deleteBranch, moveHead } from '../../../src/features/sessions/branches.ts'
import { newestOf, readTurns, visible } from '../../../src/features/sessions/turns.ts'
import { appendSession, readSession } from '../../../src/runs/sessions/session-memory.ts'
import { LEASE_MS, type SessionSettings, TURNS } from '../../../src/runs/sessions/session-record.ts'
import { branchOf, entriesIn } from '../../../src/runs/sessions/session-tree.ts'
import { enterSession, leaveSession } from '../../../src/runs/sessions/session-turns.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Reader, Transaction } from '../../../src/stores/store.ts'
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
    store,
    remove: (runId: string) => store.write(tx => deleteBranch(tx, key, runId)),
    learned: () => store.read(tx => readSession(tx, member, {}, all)).messages,
    last: () => store.read(tx => visible(tx, key))?.about?.last,
    branches: () => store.read(tx => branchesOf(tx, key)) ?? [],
    turns: () => store.read(tx => readTurns(tx, key, { limit: 100 }))?.turns ?? [],
  }
}

/** A session in which the changes were made, whatever they named. */
function changed(changes: readonly (readonly [what: 'say' | 'remove' | 'move', at: number])[]) {
  const session = kept()
  const runs: string[] = []
  for (const [what, at] of changes) {
    const run = runs[at % Math.max(runs.length, 1)] ?? 'none'
    try {
      if (what === 'remove') session.remove(run)
      else if (what === 'move') session.store.write(tx => moveHead(tx, key, { head: run }))
      else {
        runs.push(`run ${runs.length}`)
        session.say(runs.at(-1)!, at % 3 === 0 ? undefined : run)
      }
    } catch (error) {
      expect(['run_not_found', 'session_changed']).toContain(Object(error).code)
    }
  }
  return { ...session, runs }
}

/** What all turns together say: those of a branch, or of the one that counts. */
function wholeBranch(tx: Reader, branch?: string): (string | undefined)[] {
  const session = visible(tx, key)
  if (session === undefined) return []
  const all = entriesIn(tx, key, session)
  const last = branch === undefined ? session.head : newestOf(session, all, branch).seq
  return [...branchOf(session, all, last)].map(({ turn }) => turn?.runId)
}

/** The pages of a branch, and the turns that the store gave for the dearest of them. */
function pagesOf(tx: Transaction, limit: number, branch?: string) {
  const turns: string[] = []
  let [most, read] = [0, 0]
  const counting: Reader = {
    ...bound(tx),
    list(collection, query) {
      const found = tx.list(collection, query)
      if (collection === TURNS) read += found.length
      return found as never
    },
  }
  let cursor: string | null | undefined
  do {
    read = 0
    const page = readTurns(counting, key, { limit, cursor: cursor ?? undefined, branch })
    turns.push(...(page?.turns ?? []).map(({ runId }) => runId))
    most = Math.max(most, read)
    cursor = page?.nextCursor
  } while (cursor)
  return { turns, most }
}

describe('the pages of a branch', () => {
  it('are all of it, whatever was said, chosen and deleted before', () => {
    const change = fc.tuple(fc.constantFrom('say', 'say', 'say', 'remove', 'move'), fc.nat(100))
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (changes, limit) => {
        const { store, runs } = changed(changes)
        store.write(tx => {
          for (const branch of [undefined, ...runs]) {
            const whole = attempt(() => wholeBranch(tx, branch))
            expect(attempt(() => pagesOf(tx, limit, branch).turns)).toEqual(whole)
          }
        })
      }),
    )
  })

  it('are read without the turns of others', () => {
    const { say, store } = kept()
    for (let at = 0; at < 100; at++) say(`old ${at}`)
    for (let at = 0; at < 100; at++) say(`new ${at}`, at === 0 ? 'old 50' : undefined)
    for (const [branch, length] of [
      [undefined, 150],
      ['new 0', 150],
      ['old 50', 100],
    ] as const) {
      const { turns, most } = store.write(tx => pagesOf(tx, 10, branch)) as ReturnType<typeof pagesOf>
      expect(turns).toHaveLength(length)
      expect(most, branch).toBeLessThan(15)
    }
  })
})

/** What a call returns, or the code of what it throws. */
function attempt<T>(call: () => T): T | string {
  try {
    return call()
  } catch (error) {
    return String(Object(error).code ?? error)
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
