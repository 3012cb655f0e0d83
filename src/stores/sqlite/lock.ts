/**
 * Distinguishes the processes that share a database, and detects which of them are alive.
 *
 * @module
 */

import { type BigIntStats, closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Presence } from '../presence.ts'
import { sqliteModule } from './module.ts'

/** A presence that can be released. */
export interface Lock extends Presence {
  release(): void
}

/**
 * Shows other processes that this one is alive. It holds an exclusive lock on a small database file of its own. The operating
 * system releases the lock when the process ends, even after a crash.
 */
export function holdLock(path: string, instance: string): Lock {
  const file = lockFile(path, instance)
  removeDeadLocks(path)
  const held = lockForGood(file)
  return {
    instance,
    isShared: true,
    isAlive: other => other === instance || isLocked(lockFile(path, other)),
    release() {
      held.close()
      remove(file)
    },
  }
}

function lockFile(path: string, instance: string): string {
  return `${path}-${instance}.lock`
}

/**
 * The open and locked database. Undefined if another process holds the lock or has removed the file meanwhile: a lock on an
 * unlinked file has no meaning.
 */
function lockExclusively(file: string): DatabaseSync | undefined {
  const { DatabaseSync } = sqliteModule()
  const seen = look(file)
  const database = new DatabaseSync(file)
  try {
    // Nothing is written, so no journal file is needed.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
    const found = look(file)
    if (seen && isSame(seen, found)) return database
  } catch {
    // Another process has it.
  }
  database.close()
  return undefined
}

/** The file at a path; undefined if there is none. It does not open the file, since closing it would release its lock. */
export function look(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })
}

/** Whether both are the same file, or both are missing. The number of a removed file may be given to another one. */
export function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one?.ino === other?.ino && one?.birthtimeNs === other?.birthtimeNs
}

/** Number of tries for a lock, and the most milliseconds between two tries. */
const TRIES = 200
const PAUSE_MS = 5

/**
 * Locks the file. Tries again if another process, which searches for dead locks, has opened the file or removed it before it was
 * locked.
 */
function lockForGood(file: string): DatabaseSync {
  for (let tries = 0; tries < TRIES; tries++) {
    closeSync(openSync(file, 'a'))
    const held = lockExclusively(file)
    if (held !== undefined) return held
    pause(Math.random() * PAUSE_MS)
  }
  throw new Error(`The lock file ${file} cannot be held`)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  const free = lockExclusively(file)
  free?.close()
  return free === undefined
}

/** Whether any process has the database open. Removes the files of dead processes. */
export function removeDeadLocks(path: string): boolean {
  const folder = dirname(path)
  let isOpen = false
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!name.startsWith(`${basename(path)}-`) || !name.endsWith('.lock') || !existsSync(file)) continue
    const dead = lockExclusively(file)
    if (dead === undefined) {
      isOpen = true
      continue
    }
    // Another process cannot lock the file while this one holds it.
    remove(file)
    dead.close()
  }
  return isOpen
}

/** Removes the file of a dead lock. Another process may remove it first. */
function remove(file: string): void {
  rmSync(file, { force: true })
}
