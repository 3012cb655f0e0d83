import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FoundStates, partName, type StateUpdate } from '../../../src/agents/states.ts'
import { memoryState } from '../../../src/index.ts'
import { forgetSession, idOf, PARTS, STATES } from '../../../src/runs/sessions/session-record.ts'
import {
  forgetStatesOf,
  readStates,
  releaseStates,
  writeState,
} from '../../../src/runs/sessions/session-states.ts'
import { MAX_STATES, MAX_STATES_LENGTH } from '../../../src/runs/sessions/state-limits.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import type { Store } from '../../../src/stores/store.ts'
import { key, settings } from './session-kit.ts'

const memory = (): Store => memoryState({ maxBytes: 1024 ** 3 }).store
const STORES = { memory, SQLite: (): Store => sqliteState({ path: ':memory:' }).store }

const nameOf = (id: number) => String(id).padStart(6, '0')
const stateOf = (id: number, parts: readonly string[]) => ({
  ...{ space: '', id: nameOf(id), body: '{}', parts, writes: [] },
})
const part = (text: string) => ({ [partName('v', text.slice(0, 20), text)]: text })

/** The states of one session in a store of its own. */
function kept(store = memory(), at = key) {
  const side = (run: string) => ({ run, call: '', hasTurn: false })
  const write = (update: StateUpdate, run = 'r') =>
    store.write(tx => writeState(tx, at, update, side(run), settings))
  const list = (query: { limit: number; before?: string }) =>
    store.read(tx => readStates(tx, at, { space: '', list: query }, side('r')))
  let edition: number | undefined
  return {
    store,
    /** Writes a state that names these parts, with them. */
    async write(
      id: number,
      parts: Readonly<Record<string, string>>,
      run?: string,
      more: Partial<StateUpdate['state']> = {},
    ) {
      edition = await write({ state: { ...stateOf(id, Object.keys(parts)), ...more }, edition, parts }, run)
      return edition
    },
    /** Writes a state without the parts that it names. */
    reuse: (id: number, parts: readonly string[], known: number | undefined) =>
      write({ state: stateOf(id, parts), edition: known, parts: {} }),
    read: async (id?: number, run = 'r'): Promise<FoundStates> =>
      store.read(tx => readStates(tx, at, { space: '', ...(id && { id: nameOf(id) }) }, side(run))),
    texts: async (id?: number): Promise<string[]> =>
      Object.values(
        (await store.read(tx => readStates(tx, at, { space: '', ...(id && { id: nameOf(id) }) }, side('r'))))
          .parts,
      ).toSorted(),
    list: async (limit: number, before?: number) => {
      const { states } = await list({ limit, ...(before && { before: nameOf(before) }) })
      return states.map(({ id }) => Number(id))
    },
    forgetRun: (run: string) => store.write(tx => forgetStatesOf(tx, at, [run])),
    count: async (collection: string) => store.read(tx => tx.count(collection)),
  }
}

describe.each(Object.entries(STORES))('the states of a session in %s', (_, make) => {
  it('are bounded: the oldest leave, with what only they name', { timeout: 60_000 }, async () => {
    const states = kept(make())
    for (let id = 1; id <= 1250; id++) await states.write(id, { ...part('of all'), ...part(`of ${id}`) })
    expect(await states.count(STATES)).toBeLessThanOrEqual(MAX_STATES + 100)
    expect(await states.count(PARTS)).toBe((await states.count(STATES)) + 1)
    expect((await states.read()).states[0]?.id).toBe(nameOf(1250))
    expect(await states.texts()).toEqual(['of 1250', 'of all'])
    expect((await states.read(1)).states).toEqual([])
    expect(await states.list(3)).toEqual([1250, 1249, 1248])
    expect(await states.list(2, 1249)).toEqual([1248, 1247])
  })

  it('keep the last state of each run longer than those before it', { timeout: 60_000 }, async () => {
    const states = kept(make())
    for (let id = 1; id <= 1250; id++) await states.write(id, part(`of ${id}`), `run ${Math.ceil(id / 5)}`)
    expect((await states.read(5)).states).toHaveLength(1)
    expect((await states.read(4)).states).toHaveLength(0)
  })

  it('take no more than so many characters', { timeout: 60_000 }, async () => {
    const states = kept(make())
    const text = (id: number) => `${id}`.padEnd(10 * 1024 * 1024, 'x')
    for (let id = 1; id <= 8; id++) await states.write(id, part(text(id)))
    expect((await states.read(1)).states).toEqual([])
    expect(await states.texts(8)).toEqual([text(8)])
    const large = async () => states.write(9, part('y'.repeat(MAX_STATES_LENGTH + 1)))
    await expect(large()).rejects.toMatchObject({ code: 'run_too_large' })
    expect((await states.read()).states[0]?.id).toBe(nameOf(8))
  })
})

describe('the states of a session', () => {
  it('are written with all parts again once parts may be gone', async () => {
    const states = kept()
    const before = await states.write(1, part('a'))
    await states.write(2, part('b'), 'other')
    expect(await states.reuse(3, Object.keys(part('a')), before)).toBe(before)
    await states.forgetRun('r')
    expect(await states.reuse(4, Object.keys(part('a')), before)).toBeUndefined()
    expect((await states.read()).states[0]?.id).toBe(nameOf(2))
    await states.write(4, part('a'))
    expect(await states.texts()).toEqual(['a'])
  })

  it('are not stored for a run whose session was deleted', async () => {
    const states = kept()
    const { store } = states
    await states.write(1, part('a'))
    await store.write(tx => forgetSession(tx, idOf(key)))
    const update = { state: stateOf(2, []), edition: 1, parts: {} }
    await store.write(tx => writeState(tx, key, update, { run: 'r', call: '', hasTurn: true }, settings))
    expect([await states.count(STATES), await states.count(PARTS)]).toEqual([0, 0])
  })

  it('have the first writes of a task, and the last of those that may come again', async () => {
    const states = kept()
    const write = (name: string, isFirm: boolean, body: string) => ({ key: name, isFirm, body, parts: [] })
    await states.write(1, {})
    for (const body of ['1', '2'])
      await states.write(1, {}, 'r', {
        ...{ body: undefined, writes: [write('a', true, body), write('b', false, body)] },
      })
    const [first] = (await states.read()).states
    expect(first).toMatchObject({
      body: '{}',
      writes: [
        { key: 'a', body: '1' },
        { key: 'b', body: '2' },
      ],
    })
  })

  it('of a run without a session expire after it', async () => {
    const at = { ...key, place: ['agent:a', 'run'] }
    const states = kept(memory(), at)
    const { store } = states
    await states.write(1, part('a'))
    await store.write(tx => releaseStates(tx, at))
    const [head] = await store.read(tx => tx.list('states', { partition: idOf(at), limit: 1 }))
    expect(head?.expiresAt).toBeLessThanOrEqual(Date.now() + 600_000)
    expect((await states.read()).states).toHaveLength(1)
  })

  it('never lose a part that one of them names', async () => {
    const act = fc.record({
      parts: fc.uniqueArray(fc.nat(8)),
      run: fc.constantFrom('a', 'b', 'c'),
      drops: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 30 }), async all => {
        const states = kept()
        let model: { id: number; texts: string[]; run: string }[] = []
        for (const [at, { parts, run, drops }] of all.entries()) {
          const texts = parts.map(each => `part ${each}`).toSorted()
          await states.write(at + 1, Object.assign({}, ...texts.map(part)), run)
          model = [...model, { id: at + 1, texts, run }].filter(each => !drops || each.run !== run)
          if (drops) await states.forgetRun(run)
        }
        for (const { id, texts } of model) expect(await states.texts(id)).toEqual(texts)
        expect(await states.count(STATES)).toBe(model.length)
        expect(await states.count(PARTS)).toBe(new Set(model.flatMap(({ texts }) => texts)).size)
        const last = model.at(-1)
        expect((await states.read(undefined, 'd')).states[0]?.id).toBe(last && nameOf(last.id))
      }),
      { numRuns: 100 },
    )
  })
})
