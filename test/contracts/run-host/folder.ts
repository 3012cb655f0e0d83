import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that a test has for itself. */
export interface Folder {
  readonly path: string
  /** Every byte of every file in it, as far as it is text. */
  contents(): Promise<string>
  remove(): Promise<void>
}

export async function newFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'servable-state-'))
  return {
    path,
    contents: () => contentsOf(path),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

async function contentsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8').catch(ifGone))
  return (await Promise.all(texts)).join('\n')
}

/** A database removes its own files beside it when it is closed. */
function ifGone(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}
