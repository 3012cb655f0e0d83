import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { holdLock } from '../../src/stores/sqlite/lock.ts'
import { type Folder, newFolder } from '../contracts/run-host/folder.ts'
import { root } from './process.ts'

const program = `
  import { sqliteState } from './src/runtimes/sqlite.ts'
  const { store } = sqliteState({ path: process.env.DATABASE })
  store.write(() => {})
  console.log(store.instance)
  setInterval(() => {}, 1000)
`

/** Looks for dead locks, again and again. */
const looker = `
  import { removeDeadLocks } from './src/stores/sqlite/lock.ts'
  for (;;) {
    removeDeadLocks(process.env.DATABASE)
    console.log('looked')
    await new Promise(resolve => setImmediate(resolve))
  }
`

describe('sqliteState', () => {
  let folder: Folder
  const children: ChildProcess[] = []
  const open = () => {
    const { store } = sqliteState({ path: join(folder.path, 'runs.db') })
    store.write(() => {})
    return store
  }
  const locks = async () => (await readdir(folder.path)).filter(name => name.endsWith('.lock'))
  /** Another process that has the database open, and its instance. */
  const other = async () => {
    const args = ['--input-type=module', '--eval', program]
    const env = { ...process.env, DATABASE: join(folder.path, 'runs.db'), NODE_NO_WARNINGS: '1' }
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const [line] = await once(child.stdout, 'data')
    return { child, instance: String(line).trim() }
  }
  const kill = async (child: ChildProcess) => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  beforeEach(async () => {
    folder = await newFolder()
  })
  afterEach(async () => {
    for (const child of children.splice(0))
      if (child.exitCode === null && child.signalCode === null) await kill(child)
    await folder.remove()
  })

  it('knows itself alive, and nobody that it has never heard of', () => {
    const store = open()
    expect(store.isAlive(store.instance)).toBe(true)
    expect(store.isAlive(crypto.randomUUID())).toBe(false)
    store.close()
  })

  it('knows two openings of one process apart', () => {
    const [one, two] = [open(), open()]
    expect(one.instance).not.toBe(two.instance)
    expect([one.isAlive(two.instance), two.isAlive(one.instance)]).toEqual([true, true])
    one.close()
    expect(two.isAlive(one.instance)).toBe(false)
    expect(two.isAlive(two.instance)).toBe(true)
    two.close()
  })

  it('knows another process alive until it is killed', async () => {
    const store = open()
    const { child, instance } = await other()
    for (let i = 0; i < 3; i++) expect(store.isAlive(instance)).toBe(true)
    await kill(child)
    expect(store.isAlive(instance)).toBe(false)
    expect(store.isAlive(store.instance)).toBe(true)
    store.close()
  })

  it('is alive to another process that opens the database later', async () => {
    const store = open()
    const { child } = await other()
    const { instance: third } = await other()
    expect(await locks()).toHaveLength(3)
    await kill(child)
    expect(store.isAlive(third)).toBe(true)
    store.close()
  })

  it('removes the locks of the dead when it is opened, and its own when it is closed', async () => {
    const { child } = await other()
    await kill(child)
    expect(await locks()).toHaveLength(1)
    const { instance } = await other()
    const store = open()
    const held = (await locks()).toSorted()
    expect(held).toEqual([`runs.db-${instance}.lock`, `runs.db-${store.instance}.lock`].toSorted())
    store.close()
    expect(await locks()).toEqual([`runs.db-${instance}.lock`])
  })

  it('leaves files alone that are no locks of its database', async () => {
    const names = ['runs.db-notes.txt', 'other.db-1.lock', 'runs.lock']
    for (const name of names) await writeFile(join(folder.path, name), '')
    const store = open()
    store.close()
    expect(await readdir(folder.path)).toEqual(expect.arrayContaining(names))
  })

  it('opens the same database from many processes at the same instant', async () => {
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map(other))
    const store = open()
    expect(all.map(({ instance }) => store.isAlive(instance))).toEqual(all.map(() => true))
    expect(await locks()).toHaveLength(7)
    store.close()
  })

  it('keeps each lock while others look for dead ones', async () => {
    const path = join(folder.path, 'runs.db')
    const lookers = [1, 2, 3].map(() => {
      const args = ['--input-type=module', '--eval', looker]
      const env = { ...process.env, DATABASE: path, NODE_NO_WARNINGS: '1' }
      return spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    })
    children.push(...lookers)
    await Promise.all(lookers.map(({ stdout }) => once(stdout, 'data')))
    const held = Array.from({ length: 300 }, () => holdLock(path, crypto.randomUUID()))
    // Each of them has looked at every lock by then.
    await Promise.all(lookers.map(({ stdout }) => once(stdout, 'data').then(() => once(stdout, 'data'))))
    await Promise.all(lookers.map(kill))
    expect((await locks()).toSorted()).toEqual(
      held.map(({ instance }) => `runs.db-${instance}.lock`).toSorted(),
    )
    const [first] = held
    expect(held.filter(({ instance }) => !first?.isAlive(instance))).toEqual([])
    for (const lock of held) lock.release()
    expect(await locks()).toEqual([])
  })

  it('has no lock where it has no file', () => {
    const { store, isVolatile } = sqliteState({ path: ':memory:' })
    expect(store.isAlive(store.instance)).toBe(true)
    expect(isVolatile).toBe(false)
    store.close()
  })
})
