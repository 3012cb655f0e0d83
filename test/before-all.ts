import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { RUN_FOLDER } from './once.ts'

/** Before all tests: builds the page of the console, which is not in the repository, and makes the folder that they share. */
export function setup(): () => void {
  execFileSync('node', ['.ci/console.ts'], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'servable-tests-'))
  process.env[RUN_FOLDER] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
