/**
 * Commits of two kinds at once: those that lock names, and those that do not.
 *
 * @module-tag long
 */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { postgresRemote } from '../../src/stores/postgres/remote.ts'
import { postgresStore } from '../../src/stores/postgres/store.ts'
import type { Commit } from '../../src/stores/remote/remote.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const SCHEMA = 'commits'
const document = (id: string, value: string) => ({ id, partition: '', at: 0, tags: {}, value })

/** A commit that has seen one document to be absent and puts it, and one more that it does not put if it is not lean. */
const commitOf = (value: string, isLean: boolean): Commit => ({
  id: crypto.randomUUID(),
  by: '',
  seen: {
    documents: [
      { collection: 'key', id: 'one', version: undefined },
      ...(isLean ? [] : [{ collection: 'key', id: 'other', version: undefined }]),
    ],
    logs: [],
  },
  documents: [{ collection: 'key', id: 'one', document: document('one', value), eviction: undefined }],
  logs: [],
  calls: [],
})

describe.each([
  ['that locks names', false],
  ['that locks none', true],
])('a commit %s', (_, isLean) => {
  it('writes nothing over what another one has inserted meanwhile', async () => {
    const driver = postgresDriver(server.url, { max: 2, prepare: true, ssl: undefined })
    const store = postgresStore({ driver, schema: SCHEMA })
    onTestFinished(() => Promise.resolve(store.close()))
    await store.write(tx => tx.delete('key', 'one'))
    const remote = postgresRemote(driver, `"${SCHEMA}"`, async () => {})
    const sql = postgres(server.url, { max: 2 })
    onTestFinished(() => sql.end())
    const waits = async () => {
      const [row] = await sql`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
      expect(row?.count).toBe('1')
    }
    let own: ReturnType<typeof remote.commit> | undefined
    await sql.begin(async other => {
      await other`INSERT INTO commits.documents (collection, id, partition, at, tags, value, version)
        VALUES ('key', 'one', '', 0, '{}', '"other"', 1000000)`
      own = Promise.resolve(remote.commit(commitOf('own', isLean)))
      await eventually(waits)
    })
    expect(await own).toBeUndefined()
    expect(await store.read(tx => tx.get('key', 'one')?.value)).toBe('other')
  })
})
