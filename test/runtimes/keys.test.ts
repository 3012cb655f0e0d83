import { join } from 'node:path'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { CONNECTIONS } from '../contracts/connections.ts'
import { processCases } from '../contracts/keys/processes.ts'
import { keysContract } from '../contracts/keys.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf, everywhere } from './deployments.ts'
import { startNode } from './harness.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

everywhere(deploymentsOf('keys'), keysContract, deploy => CONNECTIONS.keys(deploy))

const start = (DATABASE: string) => (SETTINGS: string) =>
  startNode('test/contracts/keys/service.ts', { env: { SETTINGS, DATABASE } })

describe('processes over one SQLite file', () =>
  processCases(async () => {
    const { path, remove } = await newFolder()
    onTestFinished(remove)
    return start(join(path, 'keys.db'))
  }))

needing('postgresql').describe('processes over one PostgreSQL database', ELSEWHERE, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  processCases(async () => start(await server.database()))
})
