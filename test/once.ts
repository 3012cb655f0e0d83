/** Work that is done once in a run of the tests, by the first test file that asks for it. The others wait for it. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'

/** The variable with the folder of a run, which `before-all.ts` makes and deletes. */
export const RUN_FOLDER = 'SERVABLE_RUN_FOLDER'

const LOOK_EVERY_MS = 100

/**
 * Fills a folder, and gives its path. Nobody may change what is in it. Work that fails, fails for all who ask for it. Who waits
 * for a test file that was killed, waits until its own hook times out.
 */
export async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const parent = process.env[RUN_FOLDER]
  if (parent === undefined) throw new Error(`${RUN_FOLDER} is not set: before-all.ts has not run`)
  const folder = join(parent, name)
  const ended = `${folder}.ended`
  if (await isFirst(folder)) {
    const failure = await fill(folder).then(() => '', String)
    await writeFile(`${ended}.new`, failure)
    await rename(`${ended}.new`, ended)
  }
  while (!existsSync(ended)) await wait(LOOK_EVERY_MS)
  const failure = await readFile(ended, 'utf8')
  if (failure !== '') throw new Error(failure)
  return folder
}

async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
