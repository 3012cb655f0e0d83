/**
 * Sees that a database is moved, deleted, replaced or made read-only while it is open. SQLite itself goes on writing into a file
 * that has lost its name.
 *
 * @module
 */

import { lost } from '../remote/patient.ts'
import { access } from './explain.ts'
import { isSame, look } from './lock.ts'

/** The files of a database, as they were when it was opened. */
export interface Files {
  /** Throws an error that is `lost` if the database is not what was opened. Those that only read look once in {@link LOOK_MS}. */
  check(isWrite: boolean): void
  /** Is called once the database is closed. Says later whether it is back as it was; never if it was not these files that changed. */
  leave(): () => boolean
}

/** Milliseconds between two looks of those that only read. */
const LOOK_MS = 100

/** Looks at the files of an open database. */
export function filesOf(path: string): Files {
  const log = `${path}-wal`
  const own = look(path)
  const ownLog = look(log)
  let lookedAt = performance.now()
  let mayReturn = false
  const lose = (message: string, canReturn = true): never => {
    mayReturn = canReturn
    throw lost(message, new Error(`\`${path}\` cannot be used any more`))
  }
  return {
    check(isWrite) {
      const now = performance.now()
      if (!isWrite && now - lookedAt < LOOK_MS) return
      lookedAt = now
      if (!isSame(look(path), own)) lose(MOVED)
      // Others may have begun another one, with an index of this one.
      if (!isSame(look(log), ownLog)) lose(MOVED, false)
      if (access(path) !== undefined) lose(READ_ONLY)
    },
    leave() {
      // SQLite removes the log of a file that it can close well, and leaves that of one that has lost its name.
      const left = isSame(look(path), own) ? look(log) : ownLog
      const leftAt = BigInt(Date.now())
      return () => {
        if (!mayReturn) return false
        const found = look(path)
        // What others changed elsewhere does not fit to the log that was left here.
        const isOwn = found !== undefined && isSame(found, own) && found.mtimeMs <= leftAt
        return isOwn && isSame(look(log), left) && access(path) === undefined
      }
    },
  }
}

const MOVED = 'The file of the state was moved, deleted or replaced: put it back, or start the service again'
const READ_ONLY = 'The file of the state is read-only: let this process write it'
