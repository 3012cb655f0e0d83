/**
 * Watches the source files of a folder.
 *
 * @module
 */

import { type Dirent, type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Code, data and texts that an agent may be made of, and the variables. */
const IS_SOURCE = /^\.env|\.(ts|mts|cts|js|mjs|cjs|json|md|txt|ya?ml)$/

/** Folders that hold no source. Those that begin with a dot are left out too. */
const OTHERS = new Set(['node_modules', 'dist', 'build', 'coverage'])

/** Most folders that are watched, and most files that are compared. */
const MAX_FOLDERS = 1000
const MAX_FILES = 10_000

/** Milliseconds without a further change, since editors write a file in several steps. */
const REST_MS = 100

const holdsSource = (entry: Dirent) =>
  entry.isDirectory() && !entry.name.startsWith('.') && !OTHERS.has(entry.name)

const isSource = (entry: Dirent) => entry.isFile() && IS_SOURCE.test(entry.name)

async function stateOf(path: string): Promise<string> {
  const { mtimeMs = 0, size = 0 } = (await stat(path).catch(() => undefined)) ?? {}
  return `${path} ${mtimeMs} ${size}`
}

/** Calls `onChange` once source files below a folder have changed. Returns what ends that. */
export async function watchSources(root: string, onChange: () => void): Promise<() => void> {
  const watchers = new Map<string, FSWatcher>()
  let before = await look()
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  /** Watches new folders. Returns the state of all files, as one text. */
  async function look(): Promise<string> {
    const state: string[] = []
    const folders = [root]
    // The list grows while it is read.
    for (const folder of folders) {
      follow(folder)
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
      const pathsOf = (wanted: (entry: Dirent) => boolean, most: number) =>
        entries
          .filter(wanted)
          .slice(0, Math.max(0, most))
          .map(({ name }) => join(folder, name))
      folders.push(...pathsOf(holdsSource, MAX_FOLDERS - folders.length))
      state.push(...(await Promise.all(pathsOf(isSource, MAX_FILES - state.length).map(stateOf))))
    }
    return state.toSorted().join('\n')
  }

  function follow(folder: string): void {
    if (watchers.has(folder)) return
    const end = () => {
      watchers.get(folder)?.close()
      watchers.delete(folder)
    }
    try {
      watchers.set(folder, watch(folder, wait).on('error', end))
    } catch {
      // The folder is gone, or the system has no more watchers.
    }
  }

  function wait(): void {
    clearTimeout(timer)
    if (!isOver) timer = setTimeout(() => void compare(), REST_MS)
  }

  async function compare(): Promise<void> {
    const now = await look()
    if (now === before || isOver) return
    before = now
    onChange()
  }

  return () => {
    isOver = true
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
  }
}
