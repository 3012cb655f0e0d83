import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of one test. */
export interface Folder {
  readonly path: string
  /** The contents of all its files, as text. */
  contents(): Promise<string>
  remove(): Promise<void>
}

/** Where files are on a disk. Deno reads none that are in memory, in `/dev`. */
export function onDisk(): string {
  return process.env.DISK ?? tmpdir()
}

/** Makes one, in memory where the machine has room. */
export async function newFolder(within: string = tmpdir()): Promise<Folder> {
  const path = await mkdtemp(join(within, 'servable-state-'))
  return {
    path,
    contents: () => contentsOf(path),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

async function contentsOf(folder: string): Promise<string> {
  const files = await filesIn(folder)
  return [...files.values()].map(bytes => bytes.toString('utf8')).join('\n')
}

/** All files of the folder, by path. */
export async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(paths.map(async path => [path, await readFile(path).catch(ifGone)] as const)),
  )
}

/** A database deletes its extra files when it closes. */
function ifGone(error: NodeJS.ErrnoException): Buffer {
  if (error.code === 'ENOENT') return Buffer.alloc(0)
  throw error
}
