/** The list of an owner's sessions, where each session is elsewhere. */

import { describe, expect, it } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
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

  it('keeps what is newer than what it is told', async () => {
    const late = deferred<boolean>()
    let isHeld = false
    const { ask, say, titles, calls } = inObjects(method => isHeld && method === 'told' && late.promise)
    await say('hello', 's')
    await eventually(async () => expect(await titles()).toEqual(['hello']))
    await eventually(() => expect(calls.filter(call => call === 'told')).toHaveLength(2))
    isHeld = true
    await say('again', 's')
    await eventually(() => expect(calls.filter(call => call === 'told')).toHaveLength(3))
    isHeld = false
    const told = Date.now()
    await eventually(() => expect(Date.now()).toBeGreaterThan(told))
    await say('once more', 's')
    const counts = async () =>
      (await ask('GET', '/sessions')).body.sessions.map(({ count }: { count: number }) => count)
    await eventually(async () => expect(await counts()).toEqual([3]))
    late.resolve(false)
    await say('hello', 'other')
    await eventually(async () => expect(await counts()).toEqual([1, 3]))
    // A new title is not newer.
    await ask('PATCH', '/agents/talks/sessions/s', { title: 'another title' })
    await eventually(async () => expect(await titles()).toEqual(['hello', 'another title']))
  })
})
