/** The list of an owner's sessions, where each session is elsewhere. */

import { describe, expect, it } from 'vitest'
import { listSessions } from '../../../src/features/sessions/list.ts'
import { SESSION_SERVICE_TRANSACTIONS } from '../../../src/features/sessions/transactions.ts'
import { idOf, NEW, type Session } from '../../../src/runs/sessions/session-record.ts'
import { partitionOf } from '../../../src/runs/stored/record.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Document } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { inObjects } from './kit.ts'

describe('a list that is told', () => {
  it('has a session from its first turn on, and is told once a turn', async () => {
    const { say, titles, calls } = inObjects()
    await say('hello', 's')
    await eventually(async () => expect(await titles()).toEqual(['hello']))
    await eventually(() => expect(calls.filter(call => call === 'told')).toHaveLength(2))
    await say('again', 's')
    await eventually(() => expect(calls.filter(call => call === 'told')).toHaveLength(3))
  })

  it('is told again by the next turn where it could not be told', async () => {
    let isDown = true
    const { say, titles, logged } = inObjects(method => isDown && method === 'told')
    expect((await say('hello', 's')).status).toBe(200)
    await eventually(() => expect(logged.filter(({ event }) => event === 'session.failed')).toHaveLength(2))
    expect(await titles()).toEqual([])
    isDown = false
    await say('again', 's')
    await eventually(async () => expect(await titles()).toEqual(['hello']))
  })

  it('hears of nobody who only claims to be someone', async () => {
    const { ask, calls } = inObjects()
    for (const claim of [{}, { userId: 'ada' }]) {
      const body = { input: 'x', sessionId: 's', ...claim }
      expect((await ask('POST', '/agents/talks/run', body, {})).status).toBe(200)
    }
    expect((await ask('POST', '/sessions', { name: 'talks' }, {})).status).toBe(201)
    expect(calls).not.toContain('told')
  })

  it('loses a session that is gone once somebody asks for it', async () => {
    const { ask, say, titles, lose } = inObjects()
    await say('hello', 's')
    await eventually(async () => expect(await titles()).toEqual(['hello']))
    lose()
    expect((await ask('GET', '/agents/talks/sessions/s')).body.code).toBe('session_not_found')
    expect(await titles()).toEqual([])
  })

  it('keeps what is newer than what it is told', () => {
    const store = memoryStore()
    const { told } = SESSION_SERVICE_TRANSACTIONS.writes
    const key = { owner: 'ada', place: ['agent:a'], sessionId: 's' }
    const copyAt = (at: number, title: string): Document<Session> => {
      const value = { ...NEW, about: { title, turns: 1, createdAt: 1 } }
      return {
        id: idOf(key),
        partition: partitionOf('ada'),
        at,
        tags: {},
        expiresAt: store.read(tx => tx.now) + 9999,
        value,
      }
    }
    for (const [at, title] of [
      [2, 'two'],
      [1, 'one'],
      [2, 'another title'],
    ] as const) {
      store.write(tx => told(tx, copyAt(at, title)))
    }
    const page = store.read(tx => listSessions(tx, 'ada', { limit: 10 }))
    expect(page.sessions.map(({ title }) => title)).toEqual(['another title'])
  })
})
