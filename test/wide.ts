/**
 * Runs tests that need an install of their own above 50 MB, or many minutes:
 *   npm run test:wide NAME…
 * A name is that of a file in `test/wide`; without names all of them run. The date, the versions and the result of each go into
 * the second table of `docs/look-up/runtimes.md`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const PAGE = 'docs/look-up/runtimes.md'

const known = readdirSync('test/wide').map(file => file.replace('.test.ts', ''))
const names = process.argv.length > 2 ? process.argv.slice(2) : known
const wrong = names.filter(name => !known.includes(name))
if (wrong.length > 0)
  throw new Error(`There is no test/wide/${wrong[0]}.test.ts: choose of ${known.join(', ')}`)

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

/** Runs the file. Returns what its runner reports. */
function run(name: string): Report {
  const folder = mkdtempSync(join(tmpdir(), 'servable-wide-'))
  try {
    const outputFile = join(folder, 'report.json')
    const args = ['--config', 'test/vitest.config.ts', '--reporter=default', '--reporter=json']
    spawnSync('vitest', ['run', `test/wide/${name}.test.ts`, ...args, `--outputFile.json=${outputFile}`], {
      stdio: 'inherit',
      env: { ...process.env, WIDE: 'yes' },
    })
    return JSON.parse(readFileSync(outputFile, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The packages that were installed, as their folder in `test/frameworks` states them, the example of the name, or the site. */
function versionsOf(name: string): string {
  const folders = [
    `test/frameworks/${name.replace('openai-page', 'openai-clients')}`,
    `examples/${name}`,
    `docs/.${name}`,
  ]
  const manifest = folders.map(folder => `${folder}/package.json`).find(file => existsSync(file))
  if (manifest === undefined) return ''
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.entries(dependencies)
    .filter(([key]) => key !== 'servable')
    .map(([key, version]) => `\`${key}\` ${String(version).replace(/^npm:.*@/, '')}`)
    .join(', ')
}

/** The page with a new row for the name. Rows stand in the order of their names. */
function withRow(page: string, name: string, row: string): string {
  const [head = '', table = ''] = page.split(/(?<=\| --- \| --- \| --- \| --- \|\n)/)
  const rows = table.split('\n').filter(line => line.startsWith('|') && !line.startsWith(`| ${name} |`))
  return `${head}${[...rows, row].toSorted().join('\n')}\n`
}

for (const name of names) {
  const { numPassedTests: passed, numFailedTests: failed } = run(name)
  const result = failed > 0 ? `${passed} passed, ${failed} failed` : `${passed} passed`
  const row = `| ${name} | ${new Date().toISOString().slice(0, 10)} | ${result} | ${versionsOf(name)} |`
  writeFileSync(PAGE, withRow(readFileSync(PAGE, 'utf8'), name, row))
  if (failed > 0 || passed === 0) process.exitCode = 1
}
