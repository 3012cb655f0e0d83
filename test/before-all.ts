import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { RUN_FOLDER } from './once.ts'
import { notesOfMissing } from './programs.ts'

/** Before all tests: builds the page of the console, which is not in the repository, and makes the folder that they share. */
export function setup(): () => void {
  for (const note of notesOfMissing()) console.warn(note)
  execFileSync('node', ['.ci/console.ts'], { stdio: 'inherit' })
  const parent = fileURLToPath(new URL('.tmp', import.meta.url))
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'run-'))
  process.env[RUN_FOLDER] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
