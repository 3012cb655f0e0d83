import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cursorOf, listSessions, positionIn } from '../../../src/features/sessions/list.ts'
import { readTurns } from '../../../src/features/sessions/turns.ts'
import { appendSession } from '../../../src/runs/sessions/session-memory.ts'
import { idOf, type SessionSettings } from '../../../src/runs/sessions/session-record.ts'
import { beginning, enterSession, leaveSession } from '../../../src/runs/sessions/session-turns.ts'
import type { SessionSummary } from '../../../src/runs/sessions/summary.ts'
import { partitionOf } from '../../../src/runs/stored/record.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { codePoint } from '../../code-point.ts'

const settings: SessionSettings = {
  maxSessions: 100_000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 60_000,
  maxTurns: 1000,
  maxLength: 1_000_000,
  concurrency: 'queue',
  compacts: false,
}

const keyOf = (sessionId: string, place = ['agent:a']) => ({ owner: 'ada', place, sessionId })

/** A store, and turns in it. */
function service() {
  const store = memoryStore()
  const begin = (sessionId: string, input = 'hello', runId: string = crypto.randomUUID()) => {
    const turn = { runId, kind: 'agent', name: 'a', input, status: 'running', at: 5 } as const
    store.write(tx => enterSession(tx, keyOf(sessionId), turn, settings))
    return runId
  }
  const say = (sessionId: string, input: string, text: string) => {
    const runId = begin(sessionId, input)
    const end = { runId, text, status: 'completed', endedAt: 6 } as const
    store.write(tx => leaveSession(tx, keyOf(sessionId), end, undefined, settings))
  }
  const list = (query: object = {}) => store.read(tx => listSessions(tx, 'ada', { limit: 50, ...query }))
  return { store, begin, say, list }
}

afterEach(() => void vi.useRealTimers())

describe('a cursor of sessions', () => {
  const place = fc.record({ at: fc.nat(9_999_999_999_999), sessionId: fc.string({ unit: codePoint }) })
  const idAt = (sessionId: string) => idOf(keyOf(sessionId))

  it('is safe in a URL and leads back to the place', () => {
    fc.assert(
      fc.property(place, ({ at, sessionId }) => {
        const cursor = cursorOf({ at, id: idAt(sessionId) })
        expect(cursor).toMatch(/^[\w-]+$/)
        expect(positionIn(cursor, 'ada')).toEqual({ at, id: idAt(sessionId) })
      }),
    )
  })

  it('leads into no list of another owner', () => {
    const cursor = cursorOf({ at: 1, id: idAt('s') })
    expect(positionIn(cursor, 'bob').id).toBe(idOf({ ...keyOf('s'), owner: 'bob' }))
  })

  it('gives a place or is refused, whatever the text', () => {
    const json = fc.json().map(text => btoa(unescape(encodeURIComponent(text))))
    fc.assert(
      fc.property(fc.oneof(fc.string(), json), text => {
        try {
          expect(positionIn(text, 'ada')).toEqual({ at: expect.any(Number), id: expect.any(String) })
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_query' })
        }
      }),
    )
  })
})

describe('the beginning of a text', () => {
  it('is one line of whole characters, and not longer than asked for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, length) => {
        const line = beginning(text, length)
        expect(line.length).toBeLessThanOrEqual(length)
        expect(line).toBe(line.trimStart())
        expect(line).not.toMatch(/\n/)
        expect(line.isWellFormed()).toBe(true)
      }),
    )
    expect(beginning('one\n  two\tthree', 100)).toBe('one two three')
  })
})

describe('the list of sessions', () => {
  it('has each of 10,000 sessions once, in pages', () => {
    const { begin, list } = service()
    const ids = Array.from({ length: 10_000 }, (_, index) => `session-${index}`)
    for (const id of ids) begin(id)
    const all: SessionSummary[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = list({ limit: 100, cursor })
      expect(page.sessions).toHaveLength(100)
      all.push(...page.sessions)
      cursor = page.nextCursor
    }
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids))
    expect(all).toHaveLength(ids.length)
  })

  it('has no sessions of members, of names of a part, and no mere memories', () => {
    const { store, list } = service()
    const note = { messages: ['x'] }
    store.write(tx => appendSession(tx, keyOf('memory'), note, settings))
    store.write(tx => appendSession(tx, { ...keyOf('s'), member: ['agent:b'] }, note, settings))
    const turn = { runId: 'r', kind: 'agent', name: 'a', input: 'x', status: 'running', at: 1 } as const
    store.write(tx => enterSession(tx, keyOf('s', ['part', 'agent:a']), turn, settings))
    expect(list().sessions).toEqual([])
  })

  it('tells of a run that is not heard of any more as `interrupted`', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { store, begin, list } = service()
    const runId = begin('s')
    expect(list().sessions).toMatchObject([{ isRunning: true }])
    vi.setSystemTime(Date.now() + 20_000)
    const turns = store.read(tx => readTurns(tx, keyOf('s'), { limit: 10 }))
    expect(turns?.turns).toMatchObject([{ runId, status: 'interrupted' }])
    expect(list().sessions[0]).not.toHaveProperty('isRunning')
    vi.setSystemTime(Date.now() + 60_000)
    expect(list().sessions).toEqual([])
  })
})

describe('sessions of versions before', () => {
  it('are told by their turns, and keep their title', () => {
    const { store, say, begin, list } = service()
    say('s', 'the first', 'one')
    say('s', 'the second', 'two')
    // They wrote neither tags nor what lists tell.
    store.write(tx => {
      const { about: _, ...value } = tx.get<{ about?: unknown }>('session', idOf(keyOf('s')))?.value ?? {}
      const document = tx.get('session', idOf(keyOf('s')))
      if (document !== undefined) tx.put('session', { ...document, tags: {}, value })
    })
    const told = { id: 's', title: 'the first', lastMessage: 'two', count: 2 }
    expect(list().sessions).toMatchObject([told])
    begin('s', 'the third')
    expect(list({ name: 'a' }).sessions).toMatchObject([{ ...told, lastMessage: 'the third', count: 3 }])
  })

  it('that were one list of messages are told once they have a turn', () => {
    const { store, say, list } = service()
    const expiresAt = store.read(tx => tx.now) + 60_000
    const document = { id: idOf(keyOf('s')), partition: partitionOf('ada'), at: 1, tags: {}, expiresAt }
    store.write(tx => tx.put('session', { ...document, value: [{ role: 'user', content: 'x' }] }))
    expect(list().sessions).toEqual([])
    say('s', 'new', 'answer')
    expect(list().sessions).toMatchObject([{ title: 'new', lastMessage: 'answer' }])
  })
})
