import { describe, expect, it } from 'vitest'
import { memoryState } from '../../src/index.ts'
import { appendSession, readSession } from '../../src/runs/sessions/session-memory.ts'
import type { SessionSettings } from '../../src/runs/sessions/session-record.ts'

const usual: SessionSettings = {
  maxSessions: 1000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 60_000,
  maxTurns: 1000,
  maxLength: 1_000_000,
  concurrency: 'queue',
  compacts: false,
}

/** Sessions of a store of their own. */
function sessions(given: Partial<SessionSettings> = {}) {
  const settings = { ...usual, ...given }
  const { store } = memoryState()
  const keyOf = (sessionId: string, owner: string | null) => ({ owner, place: ['agent:a'], sessionId })
  return {
    read: (sessionId: string, owner: string | null = null) =>
      store.read(tx => readSession(tx, keyOf(sessionId, owner), {}, settings).messages),
    append: (sessionId: string, messages: readonly unknown[], owner: string | null = null) =>
      store.write(tx => appendSession(tx, keyOf(sessionId, owner), { messages }, settings)),
  }
}

const user = (content: string) => ({ role: 'user', content })
const call = { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c' }] }
const result = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c' }] }
const answer = { role: 'assistant', content: 'Sunny' }

describe('a session that grows', () => {
  it.each([1, 2, 3])('loses its first turn as a whole where %s messages must leave', excess => {
    const { read, append } = sessions({ maxSessionMessages: 6 - excess })
    append('s', [user('One'), call, result, answer])
    append('s', [user('Two'), answer])
    expect(read('s')).toEqual([user('Two'), answer])
  })

  it('loses turns that are too long, and keeps a turn that is longer than may be not at all', () => {
    const { read, append } = sessions({ maxSessionLength: 300 })
    append('s', [user('x'.repeat(200)), answer])
    append('s', [user('y'.repeat(100)), answer])
    expect(read('s')).toEqual([user('y'.repeat(100)), answer])
    append('s', [user('z'), { role: 'assistant', content: 'z'.repeat(400) }])
    expect(read('s')).toEqual([])
  })

  it('keeps an answer at its beginning that was there from the start', () => {
    const { read, append } = sessions()
    append('s', [answer, user('Thanks')])
    expect(read('s')).toEqual([answer, user('Thanks')])
  })
})

describe('the sessions of an owner', () => {
  it('are as many as may be, and the one used least recently leaves', async () => {
    const { read, append } = sessions({ maxSessions: 2 })
    for (const id of ['a', 'b', 'a', 'c']) {
      append(id, [id])
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    expect([read('a'), read('b'), read('c')]).toEqual([['a', 'a'], [], ['c']])
  })

  it('take no room of another owner', () => {
    const { read, append } = sessions({ maxSessions: 1 })
    for (const owner of [null, 'ada', '/ada']) append('s', [owner], owner)
    expect([read('s'), read('s', 'ada'), read('s', '/ada')]).toEqual([[null], ['ada'], ['/ada']])
  })
})
