/** What holds of the state of bots on every store and runtime. */
import { expect, it } from 'vitest'
import type { ChatLock } from '../../src/features/chat-state/plugin.ts'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { jsonRequest } from './http/client.ts'
import { own } from './runs/client.ts'
import { served } from './served.ts'

/** A time that no test waits for. */
const LONG = 600_000

/** A time that a test waits for. */
const SHORT = 50

/** Calls the adapter of a service. */
export const adapterOf =
  (server: () => { readonly url: string }) =>
  async <T>(method: string, ...args: unknown[]): Promise<T> => {
    const answer = await fetch(`${server().url}/calls`, jsonRequest({ method, args }))
    const { value, code } = await answer.json()
    return code === undefined ? value : ({ code } as T)
  }

/** Two processes on one store. */
export function sharedCases(one: () => { readonly url: string }, two: () => { readonly url: string }): void {
  const both = [adapterOf(one), adapterOf(two)] as const

  it('gives each lock to one of two processes, and to the other one after it', async () => {
    const threads = Array.from({ length: 20 }, (_, n) => own(`thread ${n}`))
    await Promise.all(
      threads.map(async thread => {
        const locks = await Promise.all(
          [...both, ...both].map(call => call<ChatLock | null>('acquireLock', thread, LONG)),
        )
        const held = locks.filter(lock => lock !== null)
        expect(held).toHaveLength(1)
        const holder = locks.findIndex(lock => lock !== null) % 2
        const other = both[1 - holder] ?? both[0]
        await other('releaseLock', { ...held[0], token: 'forged' })
        expect(await other('acquireLock', thread, LONG)).toBeNull()
        await other('releaseLock', held[0])
        expect(await other('acquireLock', thread, LONG)).toMatchObject({ threadId: thread })
      }),
    )
  })

  it('sets each new key once, and adds each entry once', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => own(`key ${n}`))
    await Promise.all(
      keys.map(async key => {
        const calls = [...both, ...both]
        const isNew = await Promise.all(calls.map((call, n) => call('setIfNotExists', key, n, LONG)))
        expect(isNew.filter(Boolean)).toEqual([true])
        expect(await both[0]('get', key)).toBe(isNew.indexOf(true))
        await Promise.all(calls.map((call, n) => call('appendToList', key, n)))
        expect((await both[1]<number[]>('getList', key)).toSorted()).toEqual([0, 1, 2, 3])
        const entry = (message: number) => ({ message, enqueuedAt: 1, expiresAt: Date.now() + LONG })
        await Promise.all(calls.map((call, n) => call('enqueue', key, entry(n), 10)))
        const taken = await Promise.all(calls.map(call => call<{ message: number }>('dequeue', key)))
        expect(taken.map(({ message }) => message).toSorted()).toEqual([0, 1, 2, 3])
        expect(await both[0]('dequeue', key)).toBeNull()
      }),
    )
  })
}

export function chatStateContract(deploy: Deploy): void {
  const server = served(() => deploy(''))
  const call = adapterOf(server)

  it('keeps values, and copies of them', async () => {
    const key = own('key')
    expect(await call('get', key)).toBeNull()
    for (const value of [0, false, '', null, [], { a: { b: ['\0', '\ud800x', '😀'] } }]) {
      await call('set', key, value)
      expect(await call('get', key)).toEqual(JSON.parse(JSON.stringify(value)))
    }
    expect(await call('setIfNotExists', key, 1)).toBe(false)
    await call('delete', key)
    expect(await call('setIfNotExists', key, 1)).toBe(true)
    expect(await call('get', key)).toBe(1)
  })

  it('keeps a key of each kind apart, whatever its name', async () => {
    const odd = ['__proto__', 'lock:x', '\0', '/../x', '😀'.repeat(512), '\ud800', ' ']
    for (const key of odd) {
      await call('set', key, 'value')
      await call('subscribe', key)
      await call('appendToList', key, 'entry')
      expect(await call('acquireLock', key, LONG)).toMatchObject({ threadId: key })
      expect([await call('get', key), await call('getList', key)]).toEqual(['value', ['entry']])
      await call('forceReleaseLock', key)
      await call('delete', key)
      expect([await call('get', key), await call('getList', key)]).toEqual([null, []])
      expect(await call('isSubscribed', key)).toBe(true)
      await call('unsubscribe', key)
      expect(await call('isSubscribed', key)).toBe(false)
    }
  })

  it('lets values, lists and locks expire', async () => {
    const key = own('key')
    await call('set', key, 1, SHORT)
    await eventually(async () => expect(await call('get', key)).toBeNull())
    expect(await call('setIfNotExists', key, 2, LONG)).toBe(true)
    await call('appendToList', key, 1, { ttlMs: SHORT })
    await eventually(async () => expect(await call('getList', key)).toEqual([]))
    expect(await call('get', key)).toBe(2)
    const lock = await call<ChatLock>('acquireLock', key, SHORT)
    await eventually(async () => expect(await call('acquireLock', key, LONG)).not.toBeNull())
    expect(await call('extendLock', lock, LONG)).toBe(false)
    await call('releaseLock', lock)
    expect(await call('acquireLock', key, LONG)).toBeNull()
  })

  it('extends a lock for whoever holds it, and no longer once it was released', async () => {
    const key = own('thread')
    const lock = await call<ChatLock>('acquireLock', key, LONG)
    expect(await call('extendLock', { ...lock, token: 'forged' }, LONG)).toBe(false)
    expect(await call('extendLock', lock, LONG)).toBe(true)
    await call('forceReleaseLock', key)
    expect(await call('extendLock', lock, LONG)).toBe(false)
    expect(await call('acquireLock', key, LONG)).not.toBeNull()
  })

  it('keeps the newest entries of lists and queues', async () => {
    const key = own('key')
    for (let n = 0; n < 5; n++) await call('appendToList', key, n, { maxLength: 3 })
    expect(await call('getList', key)).toEqual([2, 3, 4])
    const until = (expiresAt: number, message: number) => ({ message, enqueuedAt: 1, expiresAt })
    const depths = []
    for (let n = 0; n < 3; n++) depths.push(await call('enqueue', key, until(Date.now() + LONG, n), 2))
    expect(depths).toEqual([1, 2, 2])
    expect(await call('dequeue', key)).toMatchObject({ message: 1, enqueuedAt: 1 })
    await call('enqueue', key, until(1, 9), 9)
    expect(await call('queueDepth', key)).toBe(1)
    expect(await call('dequeue', key)).toMatchObject({ message: 2 })
    expect([await call('dequeue', key), await call('queueDepth', key)]).toEqual([null, 0])
  })

  it('keeps large lists within their bounds', async () => {
    const key = own('key')
    const text = 'x'.repeat(262_142)
    for (let n = 0; n < 6; n++) await call('appendToList', key, text)
    expect(await call('getList', key)).toEqual(Array(4).fill(text))
  })

  it.each([
    ['an empty key', 'get', ''],
    ['a long key', 'get', 'x'.repeat(1025)],
    ['a large value', 'set', 'key', 'x'.repeat(262_143)],
    ['no value', 'set', 'key', 'undefined'],
    ['a time that is none', 'set', 'key', 1, -1],
    ['a lock for no time', 'acquireLock', 'key'],
    ['a list of nothing', 'appendToList', 'key', 1, { maxLength: 0 }],
  ])('refuses %s', async (_, method, ...args) => {
    expect(await call(method, ...args)).toEqual({ code: 'invalid_input' })
  })
}
