import { join } from 'node:path'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { processCases } from '../contracts/keys/processes.ts'
import { keysContract } from '../contracts/keys.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'
import { startNode } from './harness.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('keys')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => keysContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => keysContract(deploy))

const start = (DATABASE: string) => (SETTINGS: string) =>
  startNode('test/runtimes/entries/keys-node.ts', { env: { SETTINGS, DATABASE } })

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
