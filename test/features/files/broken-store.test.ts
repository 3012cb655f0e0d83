/** Stores that fail while a file is written, read or deleted, and processes that die between two writes. */
import { describe, expect, it } from 'vitest'
import type { FileStore } from '../../../src/features/files/plugin.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { NearStore, Transaction } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { never } from '../../support.ts'
import { artifact, filesIn, NOTHING, ownStore, service } from './kit.ts'

const fails = () => {
  throw new Error('disk full at /var/files')
}

/** A store of one's own, one function of which fails. */
const failing = (name: keyof FileStore) => {
  const own = ownStore()
  let isBroken = true
  const broken = {
    ...own,
    [name]: (...args: never[]) => (isBroken ? fails() : (own[name] as (...all: never[]) => never)(...args)),
  }
  return { own, store: broken, mend: () => (isBroken = false) }
}

const FILE = 5000
/** More than is written at once. */
const LARGE = 3_000_000

describe('a store of one’s own that fails', () => {
  it('fails the run whose file it does not take, and leaves nothing', async () => {
    const { store: broken } = failing('put')
    const { run, store, logged } = service(
      () => [artifact('a', FILE)],
      { store: broken },
      { production: true },
    )
    const { error } = await run()
    expect(error).toMatchObject({ code: 'state_unavailable' })
    expect(JSON.stringify(logged)).toContain('disk full at /var/files')
    await eventually(() => expect(filesIn(store)).toEqual(NOTHING))
  })

  it('fails a run that would use a file of which it cannot say whether it is there', async () => {
    const { store: broken } = failing('has')
    const { run, ask } = service(() => [artifact('a', FILE)], { store: broken })
    const { id } = await run()
    expect((await run()).error).toMatchObject({ code: 'state_unavailable' })
    expect((await ask(`/api/runs/${id}/artifacts/a`)).status).toBe(200)
  })

  it('answers that it cannot be read', async () => {
    const { store: broken, mend } = failing('get')
    const { run, json, ask } = service(() => [artifact('a', FILE)], { store: broken })
    const { id } = await run()
    expect(await json(`/api/runs/${id}/artifacts/a`)).toMatchObject({ code: 'state_unavailable' })
    mend()
    expect((await ask(`/api/runs/${id}/artifacts/a`)).status).toBe(200)
  })

  it('is asked again to delete', async () => {
    const { own, store: broken } = failing('delete')
    const { run, store, forget, logged } = service(() => [artifact('a', FILE)], { store: broken })
    forget((await run()).id)
    await eventually(() => expect(logged.map(({ event }) => event)).toContain('files.failed'))
    expect(own.names()).toHaveLength(1)
    expect(filesIn(store)).toMatchObject({ file: 0, 'file-left-over': 1 })
  })

  it('keeps no run that is cancelled meanwhile', async () => {
    const { start, json, ask } = service(() => [artifact('a', FILE)], {
      store: { ...ownStore(), put: never },
    })
    const id = await start()
    await ask(`/api/runs/${id}/cancel`, { method: 'POST' })
    expect(await json(`/api/runs/${id}`)).toMatchObject({ status: 'cancelled' })
  })
})

/** A store in which the nth write of a document of a collection fails, and all that come after it: as if the process had died. */
function dying(
  collection: string,
  nth: number,
): { readonly store: NearStore; readonly isDead: () => boolean; readonly revive: () => void } {
  const store = memoryStore()
  let [writes, hasDied] = [0, false]
  const watched = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name === 'put' && args[0] === collection && ++writes === nth) hasDied = true
          if (hasDied) throw new Error('dead')
          return Reflect.apply(value, target, args)
        }
      },
    })
  const dies = new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'write' && name !== 'transact') return value.bind(target)
      return (work: (tx: Transaction) => unknown) => target.write(tx => work(watched(tx)))
    },
  })
  return { store: dies, isDead: () => hasDied, revive: () => (hasDied = false) }
}

describe('a process that dies', () => {
  it.each([
    ['before the reference is written', 'file-reference', 1, FILE],
    ['before a file is written', 'file', 1, FILE],
    ['before its first piece', 'file-piece', 1, FILE],
    ['between two of its pieces', 'file-piece', 10, LARGE],
    ['before it is complete', 'file', 2, LARGE],
  ])('%s leaves nothing that stays', async (_, collection, nth, size) => {
    const { store, revive, isDead } = dying(collection, nth)
    const { start, json, ended, forget } = service(() => [artifact('a', size)], {}, {}, store)
    const id = await start()
    await eventually(() => expect(isDead()).toBe(true))
    expect(await json(`/api/runs/${id}`)).toMatchObject({ status: 'running' })
    expect(await json(`/api/runs/${id}/artifacts/a`)).toMatchObject({ code: 'file_not_found' })
    revive()
    expect((await ended(id)).status).toBe('failed')
    forget(id)
    expect(filesIn(store)).toEqual(NOTHING)
  })

  it('after a store of one’s own has the bytes leaves nothing that stays', async () => {
    const own = ownStore()
    const { store, revive } = dying('file', 2)
    const { start, ended, forget } = service(() => [artifact('a', FILE)], { store: own }, {}, store)
    const id = await start()
    await eventually(() => expect(own.names()).toHaveLength(1))
    revive()
    expect((await ended(id)).status).toBe('failed')
    forget(id)
    await eventually(() => expect(own.names()).toEqual([]))
    expect(filesIn(store)).toEqual(NOTHING)
  })
})
