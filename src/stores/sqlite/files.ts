/**
 * Detects that a database is moved, deleted, replaced or made read-only while it is open. SQLite itself goes on writing into a
 * file that was unlinked.
 *
 * @module
 */

import { lost } from '../remote/retrying.ts'
import { access } from './explain.ts'
import { isSame, look } from './lock.ts'

/** The files of an open database, compared with their state at opening. */
export interface Files {
  /** Throws an error that is `lost` if the files have changed. Reads check only once in {@link LOOK_MS}. */
  check(isWrite: boolean): void
  /**
   * Called once the database is closed. Returns a function that says whether the files are back as they were. It never returns
   * true if other files have caused the loss.
   */
  leave(): () => boolean
}

/** Milliseconds between two checks by reads. */
const LOOK_MS = 100

/** Watches the files of an open database. */
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
      // Other processes may have begun a new log, whose index does not fit this one.
      if (!isSame(look(log), ownLog)) lose(MOVED, false)
      if (access(path) !== undefined) lose(READ_ONLY)
    },
    leave() {
      // SQLite removes the log of a file that it can close well, and keeps that of an unlinked file.
      const left = isSame(look(path), own) ? look(log) : ownLog
      const leftAt = BigInt(Date.now())
      return () => {
        if (!mayReturn) return false
        const found = look(path)
        // Changes made elsewhere do not fit the log that was left here.
        const isOwn = found !== undefined && isSame(found, own) && found.mtimeMs <= leftAt
        return isOwn && isSame(look(log), left) && access(path) === undefined
      }
    },
  }
}

const MOVED = 'The file of the state was moved, deleted or replaced: put it back, or start the service again'
const READ_ONLY = 'The file of the state is read-only: let this process write it'
