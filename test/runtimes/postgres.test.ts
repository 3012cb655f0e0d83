/** The store over PostgreSQL, on a real server. */
import { afterAll, beforeAll, describe } from 'vitest'
import { postgresDriver } from '../../src/runtimes/postgres/driver.ts'
import { postgresStore } from '../../src/runtimes/postgres/store.ts'
import { here } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'
import { runHostContract } from '../contracts/run-host.ts'
import { localHost } from '../contracts/run-host/local.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

let schemas = 0
const open = (schema = `s${++schemas}`) =>
  postgresStore(postgresDriver(server.url, { max: 4, prepare: false, ssl: undefined }), schema)

describe('its run host', () => {
  runHostContract(
    async settings => {
      const store = open()
      const stored = async () => JSON.stringify(await store.read(tx => tx.count('run')))
      return localHost(store, settings, { stored, close: async () => {} })
    },
    { races: 100 },
  )
})

describe('the store', () => {
  storeContract(() => here(open()))
})
