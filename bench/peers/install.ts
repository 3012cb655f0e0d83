import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const bun = fileURLToPath(new URL('../../node_modules/.bin/bun', import.meta.url))

/** Installs the packages of the other servers into this folder, the first time. */
export function installPeers(): void {
  if (existsSync(`${folder}node_modules`)) return
  console.error('… installing the others')
  execFileSync(bun, ['install', '--no-save'], { cwd: folder, stdio: 'ignore' })
}
