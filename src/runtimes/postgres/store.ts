/**
 * The store over a database that several machines share.
 *
 * @module
 */

import { createReplay } from '../../state/replay.ts'
import type { Store } from '../../state/store.ts'
import type { PostgresDriver } from './driver.ts'
import { postgresFar } from './far.ts'
import { Leases, type LeaseTimes } from './leases.ts'
import { migrate, quoted } from './schema.ts'

/** Makes the store. Its first use brings the schema to the newest version. */
export function postgresStore(driver: PostgresDriver, schema: string, times?: LeaseTimes): Store {
  const leases = new Leases(driver, quoted(schema), times)
  let ready: Promise<void> | undefined
  const prepare = () => {
    ready ??= begin().catch(error => {
      ready = undefined
      throw error
    })
    return ready
  }
  const begin = async () => {
    await migrate(driver, schema)
    await leases.begin()
  }
  const { read, write, close } = createReplay(postgresFar(driver, quoted(schema), prepare))
  return {
    get instance() {
      return leases.instance
    },
    isShared: true,
    isAlive: other => leases.isAlive(other),
    read,
    write,
    close() {
      close()
      void leases.end().then(driver.end, driver.end)
    },
  }
}
