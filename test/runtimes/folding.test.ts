/** Runs that are folded, where the process has its store, and where the store is far away. */
import { afterAll, beforeAll, describe } from 'vitest'
import { foldingCases } from '../contracts/runs/folding.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf, inPostgres } from './deployments.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { nodeInMemory, node, bun, deno } = deploymentsOf('runs')

describe('folding on Node, in memory', () => foldingCases(served(() => nodeInMemory('folds'))))

describe.each([
  ['Node, in SQLite', node],
  ['Bun, in SQLite', bun],
  ['Deno, in SQLite', deno],
])('folding on %s', ELSEWHERE, (_, deploy) => foldingCases(served(() => deploy('folds'))))

needing('postgresql').describe('folding on Node, in PostgreSQL', ELSEWHERE, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  foldingCases(served(() => inPostgres('runs', () => server)('folds')))
})
