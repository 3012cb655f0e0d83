/**
 * Tells processes that share a database apart, and whether they are there.
 *
 * @module
 */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Presence } from '../../state/presence.ts'
import { sqliteModule } from './module.ts'

/** A presence that can be given up. */
export interface Lock extends Presence {
  release(): void
}

/**
 * Tells other processes that this one is there: it holds an exclusive lock on a small database file of its own, which
 * the operating system takes back when the process ends, however it ends.
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

/** The open database with its lock, or undefined where another process has it. */
function lockExclusively(file: string): DatabaseSync | undefined {
  const { DatabaseSync } = sqliteModule()
  const database = new DatabaseSync(file)
  try {
    // Nothing is written, so that no journal need stand beside it.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch {
    database.close()
    return undefined
  }
}

/** Another process that looks for dead locks may have taken this one away before it was held: then again. */
function lockForGood(file: string): DatabaseSync {
  for (let tries = 0; tries < 100; tries++) {
    const held = lockExclusively(file)
    if (held !== undefined && existsSync(file)) return held
    held?.close()
  }
  throw new Error(`The lock file ${file} cannot be held`)
}

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  const free = lockExclusively(file)
  free?.close()
  return free === undefined
}

/** Whether any process has the database open. What the dead have left is removed. */
export function removeDeadLocks(path: string): boolean {
  const folder = dirname(path)
  let isOpen = false
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!name.startsWith(`${basename(path)}-`) || !name.endsWith('.lock')) continue
    const dead = lockExclusively(file)
    if (dead === undefined) {
      isOpen = true
      continue
    }
    // While it is held nobody else can come to hold it.
    remove(file)
    dead.close()
  }
  return isOpen
}

/** Others look for dead locks as well, and may have been quicker. */
function remove(file: string): void {
  rmSync(file, { force: true })
}
