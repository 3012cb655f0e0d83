import { afterAll, beforeAll, describe } from 'vitest'
import { chatStateContract, sharedCases } from '../contracts/chat-state.ts'
import { type Folder, newFolder } from '../contracts/run-host/folder.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf, everywhere, startsOf } from './deployments.ts'
import type { Runtime } from './harness.ts'
import { startNode } from './harness.ts'
import { entryOf } from './listeners.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

everywhere(deploymentsOf('chat-state'), chatStateContract)

describe('two processes on one SQLite file', ELSEWHERE, () => {
  let folder: Folder
  let servers: Runtime[]
  beforeAll(async () => {
    folder = await newFolder()
    servers = [await startsOf('chat-state').node(folder.path), await startsOf('chat-state').bun(folder.path)]
  })
  afterAll(async () => {
    await Promise.all((servers ?? []).map(server => server.stop()))
    await folder?.remove()
  })
  sharedCases(
    () => servers[0] as Runtime,
    () => servers[1] as Runtime,
  )
})

needing('postgresql').describe('two processes on one PostgreSQL database', ELSEWHERE, () => {
  let database: PostgresServer
  let servers: Runtime[]
  beforeAll(async () => {
    database = await startPostgres()
    const env = { DATABASE: database.url, LISTEN: database.url, MAX: '4' }
    servers = [
      await startNode(entryOf('chat-state', 'node'), { env }),
      await startNode(entryOf('chat-state', 'node'), { env }),
    ]
  })
  afterAll(async () => {
    await Promise.all((servers ?? []).map(server => server.stop()))
    await database?.stop()
  })
  sharedCases(
    () => servers[0] as Runtime,
    () => servers[1] as Runtime,
  )
})
