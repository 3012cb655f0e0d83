/** The index of texts in SQLite. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { alone } from '../../src/stores/presence.ts'
import { MIGRATIONS } from '../../src/stores/sql/migrations.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import { DEFLATED } from '../../src/stores/sqlite/codec.ts'
import { doc, ids } from '../contracts/store/document.ts'

function open(path = ':memory:') {
  const driver = openDatabase(path)
  const store = sqlStore(driver, alone(), { codec: DEFLATED })
  const found = (text: string, looks = 1000) =>
    ids(store.read(tx => tx.search('c', { partition: 'p', text, limit: 100, looks })).documents)
  return { driver, store, found }
}

const rowsOf = (driver: ReturnType<typeof openDatabase>, table: string) =>
  Number(driver.all(`SELECT COUNT(*) AS n FROM ${table}`)[0]?.n)

describe('texts in SQLite', () => {
  it('are found among thousands, whatever was looked at before', () => {
    const { store, found, driver } = open()
    const filler = 'Nothing to see here, and nothing to find. '.repeat(20)
    for (let from = 0; from < 5000; from += 500) {
      store.transact(tx => {
        for (let at = from; at < from + 500; at++)
          tx.put('c', doc(`id-${at}`, { at, text: `${filler}${at === 77 ? 'a needle' : at}` }))
      })
    }
    expect(rowsOf(driver, 'text_bits')).toBeGreaterThan(0)
    // Ten documents are looked at, and the one that has it is among them.
    expect(found('NEEDLE', 10)).toEqual(['id-77'])
    expect(found('needles')).toEqual([])
    const counted = store.read(tx => tx.countMatching('c', { partition: 'p', text: 'nothing', looks: 1000 }))
    expect(counted).toEqual({ count: 1000, isCut: true })
  })

  it('leave no blocks behind when their documents are gone', () => {
    const { store, driver, found } = open()
    const put = (from: number, to: number) =>
      store.transact(tx => {
        for (let at = from; at < to; at++) tx.put('c', doc(`id-${at}`, { at, text: `text ${at}` }))
      })
    put(0, 512)
    const full = rowsOf(driver, 'text_bits')
    store.transact(tx => {
      for (let at = 0; at < 512; at++) tx.delete('c', `id-${at}`)
    })
    expect(rowsOf(driver, 'texts')).toBe(0)
    put(1000, 1256)
    expect(rowsOf(driver, 'text_bits')).toBe(full / 2)
    expect(found('text 1100')).toEqual(['id-1100'])
    expect(found('text 100')).toEqual(ids(Array.from({ length: 10 }, (_, at) => doc(`id-${1009 - at}`))))
  })

  it('are removed by an older version that writes the same file, which goes on', async () => {
    const path = join(tmpdir(), `servable-texts-${randomUUID()}.db`)
    const { store, driver, found } = open(path)
    onTestFinished(async () => {
      driver.close()
      for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
    })
    store.transact(tx => {
      for (const id of ['updated', 'replaced', 'deleted', 'left']) tx.put('c', doc(id, { text: 'before' }))
    })
    // The statements of the version before.
    const older = openDatabase(path)
    older.run("UPDATE documents SET expires = NULL, value = '1' WHERE collection = 'c' AND id = 'updated'")
    older.run(
      "INSERT OR REPLACE INTO documents (collection, id, partition, at, expires, tags, value) VALUES ('c', 'replaced', 'p', 2, NULL, '{}', '2')",
    )
    older.run("DELETE FROM documents WHERE collection = 'c' AND id = 'deleted'")
    older.close()
    expect(found('before')).toEqual(['left'])
    // It refuses a file of a newer version.
    const [row] = driver.all('SELECT MAX(version) AS version FROM servable_schema')
    expect(row?.version).toBe(MIGRATIONS.length)
    expect(MIGRATIONS.length).toBe(3)
  })

  it('are made for a file of the version before, which has none', async () => {
    const path = join(tmpdir(), `servable-texts-${randomUUID()}.db`)
    onTestFinished(async () => {
      for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
    })
    const first = openDatabase(path)
    first.run('CREATE TABLE servable_schema (version INTEGER NOT NULL)')
    for (const [index, statements] of MIGRATIONS.entries()) {
      for (const statement of statements) first.run(statement)
      first.run('INSERT INTO servable_schema (version) VALUES (?)', index + 1)
    }
    first.run("INSERT INTO documents VALUES ('c', 'old', 'p', 1, NULL, '{}', '1')")
    first.close()
    const { store, driver, found } = open(path)
    expect(store.read(tx => tx.get('c', 'old'))?.value).toBe(1)
    expect(found('old')).toEqual([])
    store.transact(tx => tx.put('c', doc('old', { text: 'no longer old' })))
    expect(found('longer')).toEqual(['old'])
    driver.close()
  })
})
