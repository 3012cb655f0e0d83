/** A disk of a few megabytes, in memory, that a test fills. */
import { execFile } from 'node:child_process'
import { chown, mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { userIds } from './server.ts'

const run = promisify(execFile)

export interface TinyDisk {
  /** An empty folder of the database's user. */
  readonly folder: string
  /** Takes all the room that is left. */
  fill(): Promise<void>
  /** Gives it back. */
  free(): Promise<void>
  remove(): Promise<void>
}

/** Mounts one; undefined where only root may, and this is not root. */
export async function mountTinyDisk(megabytes: number): Promise<TinyDisk | undefined> {
  const ids = await userIds()
  if (ids === undefined) return undefined
  const parent = await mkdtemp(join(tmpdir(), 'servable-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', parent])
  } catch {
    await rm(parent, { recursive: true, force: true })
    return undefined
  }
  const folder = join(parent, 'space')
  await mkdir(folder)
  await chown(folder, ids.user, ids.group)
  const ballast = join(parent, 'ballast')
  return {
    folder,
    async fill() {
      const file = await open(ballast, 'w')
      try {
        for (const size of [1_048_576, 4096]) await writeUntilFull(file, size)
      } finally {
        await file.close()
      }
    },
    free: () => rm(ballast),
    async remove() {
      await run('umount', ['--lazy', parent])
      await rm(parent, { recursive: true, force: true })
    },
  }
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, size: number): Promise<void> {
  try {
    while (true) await file.write(Buffer.alloc(size))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
