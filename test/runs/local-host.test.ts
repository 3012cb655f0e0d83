import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Agent } from '../../src/index.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { ending } from '../contracts/run-host/kit.ts'
import { localHost, SETTINGS } from '../contracts/run-host/local.ts'
import { type Recorded, recorded } from '../contracts/run-host/recorded.ts'
import { runHostContract } from '../contracts/run-host.ts'
import { lateStore } from '../contracts/store/late.ts'
import { ELSEWHERE } from '../tags.ts'

describe('createLocalHost over memory', () => {
  runHostContract(async settings => {
    const store: Recorded = recorded(memoryStore())
    return localHost(store, settings, { stored: async () => store.written(), close: async () => {} })
  })
})

/** For stores that take longer than memory, where the order of calls is the same or is drawn anew. */
const FEWER = { atOnce: 20, races: 200, rounds: 30 }

describe('createLocalHost over SQLite', ELSEWHERE, () => {
  runHostContract(async settings => {
    const folder = await newFolder()
    const store = sqlStore(openDatabase(join(folder.path, 'runs.db')))
    return localHost(store, settings, { stored: folder.contents, close: folder.remove })
  }, FEWER)
})

describe('createLocalHost over a store that answers late', () => {
  runHostContract(
    async settings => {
      const store: Recorded = recorded(lateStore())
      return localHost(store, settings, { stored: async () => store.written(), close: async () => {} })
    },
    { ...FEWER, slowness: 4 },
  )
})

describe('a stored run whose work is too large to wait', () => {
  it('fails by itself: its end is stored at once', async () => {
    const servable = new Agent({
      name: 'large',
      register: false,
      async *run(_, { ask, step }) {
        yield* step('large', () => 'x'.repeat(5_000_000))
        yield* ask('on')
      },
    })
    const onFailure = vi.fn()
    const settings = { ...SETTINGS, onFailure }
    const host = createLocalHost({ store: memoryStore(), settings, retention: {} })
    const target = { kind: 'agent', name: 'large', servable } as const
    const { id } = await host.start({ target, input: 'x', options: {}, owner: null, isBackground: true })
    expect(await ending(host, id)).toMatchObject({ status: 'failed', error: { code: 'run_too_large' } })
    expect(onFailure.mock.calls.map(([{ event }]) => event)).toEqual(['run.failed'])
  })
})
