/**
 * The store over a database that several machines share.
 *
 * @module
 */

import { later } from '../../base/wake.ts'
import type { Commit } from '../remote/remote.ts'
import { createReplay, type Replay } from '../remote/replay.ts'
import type { Store } from '../store.ts'
import type { PostgresDriver } from './driver.ts'
import { Leases, type LeaseTimes } from './leases.ts'
import { type Listen, Notifications } from './notifications.ts'
import { postgresRemote } from './remote.ts'
import { checkSchema, type Migration, migrate, quoted } from './schema.ts'

/** Options of the store. */
export interface PostgresStoreOptions {
  readonly driver: PostgresDriver
  readonly schema: string
  /** Absent: there are no notifications, and followers poll. */
  readonly listen?: Listen | undefined
  /** Whether its first use migrates the schema to the newest version. Default: true. */
  readonly migrates?: boolean | undefined
  readonly times?: LeaseTimes | undefined
  /** The known versions of the schema. */
  readonly migrations?: readonly Migration[] | undefined
}

/** Milliseconds that closing waits for pending reads and writes. */
const CLOSE_MS = 2000

/** The store. */
export interface PostgresStore extends Store {
  /** Ends the lease and all connections. The next use opens the store again. Never rejects. */
  close(): Promise<void>
}

/** Creates the store. It connects at its first use. */
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
  const notifications = listen && new Notifications({ driver, listen, s }, () => leases.instance)
  let ready: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const { counted, idle } = countedWorks()
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
    // Not awaited: until it listens, followers poll.
    void notifications?.begin()
  }
  const end = async () => {
    await Promise.race([idle(), later(CLOSE_MS)])
    const begun = ready
    ready = undefined
    replay?.close()
    replay = undefined
    // So other processes learn at once that this one is gone.
    await Promise.allSettled([begun?.then(() => leases.end()), notifications?.end()])
    await driver.end().catch(() => {})
  }
  const open = replayOver(driver, s, leases, prepare)
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
    isRemote: true,
    isAlive: other => leases.isAlive(other),
    read: (work, patienceMs) => counted(opened().read(work, patienceMs)),
    write: (work, patienceMs) => counted(opened().write(work, patienceMs)),
    ...(notifications && {
      async watch(log, wake) {
        await prepare()
        return notifications.watch(log, wake)
      },
    }),
    onCall(wake) {
      const call = () => {
        // `wake` reads, which would reopen a store that is closing.
        if (closing === undefined) wake()
      }
      // Without notifications, every renewal of the lease triggers a check, since a server may not check regularly.
      if (notifications === undefined) leases.onRenewed(call)
      else notifications.onCall(call)
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

/** Counts the reads and writes that are pending. */
function countedWorks(): { counted<T>(work: Promise<T>): Promise<T>; idle(): Promise<void> } {
  const works = new Set<Promise<unknown>>()
  const counted = <T>(work: Promise<T>): Promise<T> => {
    works.add(work)
    const done = () => works.delete(work)
    work.then(done, done)
    return work
  }
  const idle = async () => {
    while (works.size > 0) await Promise.allSettled(works)
  }
  return { counted, idle }
}

/**
 * Makes a function that opens the reads and writes until the store is closed. Pending ones fail then: a retry would open the
 * store again.
 */
function replayOver(
  driver: PostgresDriver,
  s: string,
  leases: Leases,
  prepare: () => Promise<void>,
): () => Replay {
  const sent = new WeakSet<Commit>()
  return () => {
    let isOver = false
    const begun = async () => {
      if (isOver) throw new Error('The store is closed')
      await prepare()
    }
    const remote = postgresRemote(driver, s, begun)
    const replay = createReplay({
      ...remote,
      get instance() {
        return leases.instance
      },
      async commit(commit) {
        await begun()
        await leases.fresh()
        // The works of this commit may contain the old name of this process. A commit that was sent before may be written
        // already.
        if (commit.by !== leases.instance && !sent.has(commit)) return undefined
        sent.add(commit)
        return remote.commit(commit)
      },
    })
    const close = () => {
      isOver = true
      replay.close()
    }
    return { ...replay, close }
  }
}
