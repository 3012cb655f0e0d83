/**
 * The store over a database that several machines share.
 *
 * @module
 */

import { later } from '../../base/wake.ts'
import type { Commit } from '../remote/far.ts'
import { createReplay, type Replay } from '../remote/replay.ts'
import type { Store } from '../store.ts'
import { Bell, type Listen } from './bell.ts'
import type { PostgresDriver } from './driver.ts'
import { postgresFar } from './far.ts'
import { Leases, type LeaseTimes } from './leases.ts'
import { checkSchema, type Migration, migrate, quoted } from './schema.ts'

/** What a store needs. */
export interface PostgresStoreOptions {
  readonly driver: PostgresDriver
  readonly schema: string
  /** Absent: nobody listens, and followers read again and again. */
  readonly listen?: Listen | undefined
  /** Whether its first use brings the schema to the newest version. Default: true. */
  readonly migrates?: boolean | undefined
  readonly times?: LeaseTimes | undefined
  /** The versions of the schema that are known. */
  readonly migrations?: readonly Migration[] | undefined
}

/** Milliseconds for which a store that is closed waits for what is still read and written. */
const CLOSE_MS = 2000

/** The store. */
export interface PostgresStore extends Store {
  /** Ends the lease and all connections. The next use opens the store again. Never rejects. */
  close(): Promise<void>
}

/** Makes the store. It connects at its first use. */
export function postgresStore({
  driver,
  schema,
  listen,
  migrates = true,
  times,
  migrations,
}: PostgresStoreOptions): PostgresStore {
  const s = quoted(schema)
  const leases = new Leases(driver, s, times)
  const bell = listen && new Bell({ driver, listen, s }, () => leases.instance)
  let ready: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const works = new Set<Promise<unknown>>()
  const prepare = () => {
    ready ??= begin().catch(error => {
      ready = undefined
      throw error
    })
    return ready
  }
  const begin = async () => {
    await closing
    await (migrates ? migrate(driver, schema, migrations) : checkSchema(driver, schema, migrations))
    await leases.begin()
    // Nobody waits for it: until it listens, followers read.
    void bell?.begin()
  }
  const counted = <T>(work: Promise<T>): Promise<T> => {
    works.add(work)
    const done = () => works.delete(work)
    work.then(done, done)
    return work
  }
  const idle = async () => {
    while (works.size > 0) await Promise.allSettled(works)
  }
  const end = async () => {
    await Promise.race([idle(), later(CLOSE_MS)])
    const begun = ready
    ready = undefined
    replay?.close()
    replay = undefined
    // The others learn at once that this process is gone.
    await Promise.allSettled([begun?.then(() => leases.end()), bell?.end()])
    await driver.end().catch(() => {})
  }
  const sent = new WeakSet<Commit>()
  /** What is read and written until the store is closed. What is not done by then fails: trying again would open the store again. */
  const open = (): Replay => {
    let isOver = false
    const begun = async () => {
      if (isOver) throw new Error('The store is closed')
      await prepare()
    }
    const far = postgresFar(driver, s, begun)
    const replay = createReplay({
      ...far,
      get instance() {
        return leases.instance
      },
      async commit(commit) {
        await begun()
        await leases.fresh()
        // What it writes may have the old name of this process. One that was sent before may be written already.
        if (commit.by !== leases.instance && !sent.has(commit)) return undefined
        sent.add(commit)
        return far.commit(commit)
      },
    })
    const close = () => {
      isOver = true
      replay.close()
    }
    return { ...replay, close }
  }
  let replay: Replay | undefined
  const opened = () => {
    replay ??= open()
    return replay
  }
  return {
    get instance() {
      return leases.instance
    },
    isShared: true,
    isFar: true,
    isAlive: other => leases.isAlive(other),
    read: (work, patienceMs) => counted(opened().read(work, patienceMs)),
    write: (work, patienceMs) => counted(opened().write(work, patienceMs)),
    ...(bell && {
      async hear(log, wake) {
        await prepare()
        return bell.hear(log, wake)
      },
    }),
    onCall(wake) {
      const call = () => {
        // Whoever is called reads, which would open again what closes.
        if (closing === undefined) wake()
      }
      // Whoever does not listen looks once in a while, also where no server looks regularly.
      if (bell === undefined) leases.onRenewed(call)
      else bell.onCall(call)
      leases.onLost(call)
    },
    onLate: wake => leases.onLate(wake),
    close() {
      closing ??= end().finally(() => {
        closing = undefined
      })
      return closing
    },
  }
}
