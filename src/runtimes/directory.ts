/**
 * Files of runs in a directory.
 *
 * @module
 */

import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ServableError } from '../base/errors.ts'
import type { FileStore } from '../features/files/store.ts'

/** Files left by a crash are deleted after this many milliseconds, at most so many at a time. */
const HOUR_MS = 3_600_000
const SWEPT_AT_ONCE = 1000

const UNFINISHED = /^\.[\da-f-]+\.part$/

/**
 * Stores files in a directory, which is created if missing. Each file is written under a temporary name first, so a file with its
 * final name is complete. Several processes may share the directory. Give it as `store` to `files` of `servable/files`.
 *
 * @example
 * files({ store: directory('./files') })
 */
export function directory(path: string): FileStore {
  if (typeof path !== 'string' || path === '') {
    throw new ServableError('invalid_options', '`directory` takes the path of a directory')
  }
  const pathOf = (name: string) => join(path, checkName(name))
  let ready: Promise<void> | undefined
  const prepare = () => {
    ready ??= begin(path).catch(error => {
      ready = undefined
      throw error
    })
    return ready
  }
  return {
    async put(name, bytes) {
      const target = pathOf(name)
      await prepare()
      const unfinished = join(path, `.${crypto.randomUUID()}.part`)
      try {
        const file = await open(unfinished, 'wx', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(unfinished, target)
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },
    async get(name) {
      try {
        return new Uint8Array(await readFile(pathOf(name)))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    delete: name => rm(pathOf(name), { force: true }),
    async has(name) {
      try {
        return (await stat(pathOf(name))).isFile()
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },
  }
}

/** Creates the directory, and deletes what a crash has left there. */
async function begin(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  const names = await readdir(path)
  for (const name of names.filter(each => UNFINISHED.test(each)).slice(0, SWEPT_AT_ONCE)) {
    const { mtimeMs } = await stat(join(path, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > HOUR_MS) await rm(join(path, name), { force: true })
  }
}

/** Names are digests from the handler. Any other name could be a path. */
function checkName(name: string): string {
  if (/^[\da-f]{64}-[\da-f]{8}$/.test(name)) return name
  throw new ServableError('internal_error', 'This is no name of a file')
}

function isMissing(error: unknown): boolean {
  return Object(error).code === 'ENOENT'
}
