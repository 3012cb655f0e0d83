/**
 * The store over a database that several machines share.
 *
 * @module
 */

import { createReplay } from '../../state/replay.ts'
import type { Store } from '../../state/store.ts'
import { Bell, type Listen } from './bell.ts'
import type { PostgresDriver } from './driver.ts'
import { postgresFar } from './far.ts'
import { Leases, type LeaseTimes } from './leases.ts'
import { checkSchema, migrate, quoted } from './schema.ts'

/** What a store needs. */
export interface PostgresStoreOptions {
  readonly driver: PostgresDriver
  readonly schema: string
  /** Absent: nobody listens, and followers read again and again. */
  readonly listen?: Listen | undefined
  /** Whether its first use brings the schema to the newest version. Default: true. */
  readonly migrates?: boolean | undefined
  readonly times?: LeaseTimes | undefined
}

/** Makes the store. It connects at its first use. */
export function postgresStore({
  driver,
  schema,
  listen,
  migrates = true,
  times,
}: PostgresStoreOptions): Store {
  const s = quoted(schema)
  const leases = new Leases(driver, s, times)
  const bell = listen && new Bell({ driver, listen, s }, () => leases.instance)
  let ready: Promise<void> | undefined
  const prepare = () => {
    ready ??= begin().catch(error => {
      ready = undefined
      throw error
    })
    return ready
  }
  const begin = async () => {
    await (migrates ? migrate(driver, schema) : checkSchema(driver, schema))
    await leases.begin()
    // Nobody waits for it: until it listens, followers read.
    void bell?.begin()
  }
  const { read, write, close } = createReplay(postgresFar(driver, s, prepare))
  return {
    get instance() {
      return leases.instance
    },
    isShared: true,
    isFar: true,
    isAlive: other => leases.isAlive(other),
    read,
    write,
    ...(bell && {
      async hear(log, wake) {
        await prepare()
        return bell.hear(log, wake)
      },
    }),
    onCall(wake) {
      bell?.onCall(wake)
      leases.onLost(wake)
    },
    onLate: wake => leases.onLate(wake),
    close() {
      close()
      // The others learn at once that it is gone.
      void Promise.allSettled([ready?.then(() => leases.end()), bell?.end()]).then(driver.end)
    },
  }
}
