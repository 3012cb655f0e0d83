/**
 * Shows the pages as a site, which follows your changes:
 *   npm run docs
 * `npm run docs build` writes the site into `docs/.site/.vitepress/dist`, for any server of files; `--base /path/` puts it below a path. The
 * first time, it installs VitePress into `docs/.site`.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

const changedAt = (file: string) => statSync(folder + file, { throwIfNoEntry: false })?.mtimeMs ?? 0

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json'))
  run('npm', ['ci', '--no-audit', '--no-fund', '--package-lock'])

const [command = 'dev', ...args] = process.argv.slice(2)
run(process.execPath, [
  'node_modules/vitepress/bin/vitepress.js',
  command,
  ...(command === 'build' ? [] : ['--host', '127.0.0.1']),
  ...args,
])
