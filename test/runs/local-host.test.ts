import { join } from 'node:path'
import { describe } from 'vitest'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/state/memory.ts'
import { sqlStore } from '../../src/state/sql.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { localHost } from '../contracts/run-host/local.ts'
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

describe('createLocalHost over SQLite', ELSEWHERE, () => {
  runHostContract(async settings => {
    const folder = await newFolder()
    const store = sqlStore(openDatabase(join(folder.path, 'runs.db')))
    return localHost(store, settings, { stored: folder.contents, close: folder.remove })
  })
})

describe('createLocalHost over a store that answers late', () => {
  runHostContract(
    async settings => {
      const store: Recorded = recorded(lateStore())
      return localHost(store, settings, { stored: async () => store.written(), close: async () => {} })
    },
    { atOnce: 20, slowness: 4 },
  )
})
