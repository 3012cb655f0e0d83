/**
 * Says why a database cannot be opened, and what to do about it.
 *
 * @module
 */

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'

/** SQLite result codes that describe the file (sqlite.org/rescode.html). */
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Codes that may pass by themselves: busy, locked, out of memory, interrupted, failing disk, full disk. */
const TRANSIENT: ReadonlySet<number> = new Set([BUSY, 6, 7, 9, 10, 13])

/** The error to throw if opening `path` fails. For a known cause it is `invalid_options`, which names the path and the fix. */
export function explain(path: string, cause: unknown): unknown {
  const code = resultOf(cause)
  if (code !== undefined && TRANSIENT.has(code)) return cause
  const own = isServableError(cause) ? cause.message : undefined
  const why =
    own ?? whyNot(path, code) ?? `${messageOf(cause)}. Give \`path\` a file that can be read and written`
  const text = `sqliteState: the database \`${path}\` cannot be opened: ${why}`
  return new ServableError('invalid_options', text, { cause })
}

/** Whether another connection is writing. */
export function isBusy(error: unknown): boolean {
  return resultOf(error) === BUSY
}

/** The primary result code. Node and Bun have it in `errcode`. Deno has it only in the message. */
function resultOf(error: unknown): number | undefined {
  const { errcode } = Object(error) as { readonly errcode?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  const text = messageOf(error)
  if (/not a database/.test(text)) return NOT_A_DATABASE
  if (/malformed/.test(text)) return CORRUPT
  return /locked|busy/.test(text) ? BUSY : undefined
}

function whyNot(path: string, code: number | undefined): string | undefined {
  if (code === NOT_A_DATABASE)
    return 'the file is not an SQLite database. Give `path` another one, or a new name'
  if (code === CORRUPT) return 'the file is damaged. Put back a copy of it, or give `path` a new name'
  const folder = dirname(path)
  try {
    if (!existsSync(folder)) {
      return `the folder \`${folder}\` does not exist. Make it, or give \`path\` a file in another one`
    }
    if (!statSync(folder).isDirectory()) return `\`${folder}\` is not a folder. Give \`path\` a file in one`
    if (existsSync(path)) {
      if (statSync(path).isDirectory())
        return 'it is a folder. Give `path` a file in it, such as `servable.db`'
      const denied = access(path)
      if (denied !== undefined) return `${denied} Let this process read and write the file`
    }
    const denied = access(folder)
    if (denied !== undefined) {
      return `${denied} Let this process write into the folder \`${folder}\`: SQLite makes files beside the database`
    }
  } catch {
    // The process may not even read the metadata of the file. The error of opening it says more.
  }
  return undefined
}

/** Why a file or folder cannot be read and written. Undefined if it can. */
export function access(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown }
    if (code === 'EROFS') return 'its file system is read-only.'
    return code === 'EACCES' || code === 'EPERM' ? 'this process lacks the permission.' : undefined
  }
}
