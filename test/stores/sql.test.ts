import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { alone } from '../../src/stores/presence.ts'
import { INDEXED_TAGS, MIGRATIONS } from '../../src/stores/sql/migrations.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import { doc } from '../contracts/store/document.ts'
import { here, type Step } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'

let folder = ''
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servable-sql-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const newFile = () => join(folder, `${++files}.db`)

describe('sqlStore on a file', () => {
  storeContract(() => here(sqlStore(openDatabase(newFile()))))

  it('has kept everything when it is opened again', async () => {
    const path = newFile()
    const look: Step[] = [
      ['oldest', 'c', 10],
      ['search', 'c', { partition: 'p', tags: { t: '1' }, limit: 10, looks: 10 }],
      ['expired', 'c', 100, 10],
      ['read', 'open', 0, 10],
      ['isSealed', 'open'],
      ['isSealed', 'sealed'],
    ]
    const first = here(sqlStore(openDatabase(path)))
    await first.transact([
      ['put', 'c', doc('a', { tags: { t: '1' }, expiresAt: 5 })],
      ['put', 'c', doc('b', { at: 2, value: '€'.repeat(800_000) })],
      ['append', 'open', 'one'],
      ['append', 'sealed', 'last', true],
    ])
    const before = await first.transact(look)
    await first.close()
    const second = here(sqlStore(openDatabase(path)))
    expect(await second.transact(look)).toEqual(before)
    expect(await second.transact([['append', 'open', 'two']])).toEqual([2])
    await second.close()
  })

  it('is brought to the newest schema once, whoever opens it', async () => {
    const path = newFile()
    const both = [sqlStore(openDatabase(path)), sqlStore(openDatabase(path))]
    for (const store of both) store.transact(tx => tx.count('any'))
    for (const store of both) store.close()
    const driver = openDatabase(path)
    sqlStore(driver).transact(tx => tx.count('any'))
    const versions = driver.all('SELECT version FROM servable_schema ORDER BY version')
    expect(versions.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    driver.close()
  })

  it.each([true, false])('finds what an earlier version wrote, with indices of tags: %s', indexesTags => {
    const driver = openDatabase(':memory:')
    driver.run('CREATE TABLE servable_schema (version INTEGER NOT NULL)')
    for (const statement of MIGRATIONS[0]!) driver.run(statement)
    driver.run('INSERT INTO servable_schema (version) VALUES (1)')
    const columns = 'collection, id, partition, at, tags, value'
    const values = ['run', 'a', 'p', 1, '{"status":"failed","ref":"a"}', '"kept"']
    driver.run(`INSERT INTO documents (${columns}) VALUES (?, ?, ?, ?, ?, ?)`, ...values)
    const store = sqlStore(driver, alone(), { indexesTags })
    const query = { partition: 'p', tags: { status: 'failed' }, limit: 10, looks: 10 }
    const { documents } = store.transact(tx => tx.search('run', query))
    expect(documents.map(({ value }) => value)).toEqual(['kept'])
    const indices = driver.all("SELECT name FROM sqlite_master WHERE name LIKE 'documents_by_tag_%'")
    expect(indices).toHaveLength(indexesTags ? INDEXED_TAGS.length : 0)
    store.close()
  })

  it('is left alone where a newer version wrote it', () => {
    const path = newFile()
    const driver = openDatabase(path)
    sqlStore(driver).transact(tx => tx.append('log', 'one'))
    const next = MIGRATIONS.length + 1
    driver.run('INSERT INTO servable_schema (version) VALUES (?)', next)
    const older = sqlStore(openDatabase(path))
    for (const use of [() => older.read(() => {}), () => older.transact(() => {})]) {
      expect(use).toThrow(expect.objectContaining({ code: 'invalid_options' }))
      expect(use).toThrow(`its schema is ${next}, and this version knows ${MIGRATIONS.length}`)
    }
    older.close()
    driver.close()
  })

  it('is lost to an opening when a newer version writes it, though no table changes', () => {
    const path = newFile()
    const [older, newer] = [sqlStore(openDatabase(path)), openDatabase(path)]
    older.write(tx => tx.append('log', 'one'))
    newer.run('INSERT INTO servable_schema (version) VALUES (?)', MIGRATIONS.length + 1)
    const uses = [
      () => older.read(tx => tx.length('log')),
      () => older.write(tx => tx.append('log', 'two')),
      () => older.commit([tx => tx.append('log', 'two'), tx => tx.append('log', 'three')]),
    ]
    for (const use of uses) expect(use).toThrow(expect.objectContaining({ code: 'state_unavailable' }))
    expect(newer.all('SELECT data FROM entries')).toEqual([{ data: 'one' }])
    older.close()
    newer.close()
  })

  it('shows one opening what another has written', async () => {
    const path = newFile()
    const [one, two] = [here(sqlStore(openDatabase(path))), here(sqlStore(openDatabase(path)))]
    await one.transact([['append', 'l', 'from one']])
    expect(await two.transact([['append', 'l', 'from two']])).toEqual([2])
    expect(await one.transact([['read', 'l', 1, 10]])).toEqual([[{ seq: 2, data: 'from two' }]])
    await one.close()
    await two.close()
  })

  it('throws once it is closed', async () => {
    const store = here(sqlStore(openDatabase(newFile())))
    await store.close()
    await expect(store.transact([['count', 'c']])).rejects.toThrow()
  })
})

describe('sqlStore in memory', () => storeContract(() => here(sqlStore(openDatabase(':memory:')))))
