/** The script that counts what is tested on which runtime. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const document = await readFile(join(root, 'docs/runtimes.md'), 'utf8')

type Test = readonly [file: string, ...names: string[]]

const on = (suite: string, ...deployments: string[]): Test[] =>
  deployments.map(name => [suite, `${suite} on ${name}`, 'works'])
const runtimes = ['Node, in memory', 'Bun, in SQLite', 'Deno', 'workerd, in Durable Objects']
const suites = ['runs', 'a2a', 'socket', 'gateway', 'metrics', 'admin', 'ai', 'client']
const plugins = ['otel', 'keys', 'budgets', 'guards', 'webhooks', 'queue', 'schedules']

/** One test for each cell that has some. */
const ONE_EACH: readonly Test[] = [
  ...['node', 'bun', 'deno', 'cloudflare'].flatMap((name): Test[] => [
    [name === 'cloudflare' ? 'workerd' : name, `servable/${name}`, 'over HTTP', 'silence', 'works'],
    [name === 'cloudflare' ? 'workerd' : name, `servable/${name}`, 'over HTTP', 'GET /tools', 'works'],
  ]),
  ...[...suites, ...plugins].flatMap(suite => on(suite, ...runtimes)),
  ...['a Node route', 'an Edge route'].flatMap((route): Test[] => [
    ['next', route, 'over HTTP', 'silence', 'works'],
    ['next', route, 'the log', 'works'],
    ['next', `the client on ${route}`, 'works'],
  ]),
  ['next', 'a Node route', 'stored runs', 'works'],
  ['next', 'a Node route', 'A2A', 'works'],
  ['next', 'a Node route', 'metrics', 'works'],
  ['next', 'admin on a Node route', 'works'],
  ['next', 'the gateway in a Node route', 'works'],
  ['next', 'a model-backed agent on a Node route', 'works'],
]

describe('matrix', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-matrix-'))
    await mkdir(join(folder, 'docs'))
    await writeFile(join(folder, 'docs/runtimes.md'), document)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function matrix(command: string, tests: readonly Test[], status = 'passed'): Promise<void> {
    const testResults = tests.map(([file, ...names]) => ({
      name: `/test/runtimes/${file}.test.ts`,
      assertionResults: [{ ancestorTitles: names.slice(0, -1), title: names.at(-1), status }],
    }))
    await writeFile(join(folder, 'report.json'), JSON.stringify({ testResults }))
    const args = [join(root, '.ci/matrix.ts'), command, 'report.json']
    await promisify(execFile)(process.execPath, args, { cwd: folder })
  }

  it('finds the document right, whatever the counts', async () => {
    await matrix('check', ONE_EACH)
    await matrix('write', [...ONE_EACH, ...on('runs', 'Node, in SQLite')])
    expect(await readFile(join(folder, 'docs/runtimes.md'), 'utf8')).toMatch(/\| Stored runs \| 2 \| 1 \|/)
    await matrix('check', ONE_EACH)
  })

  it('says which cell has lost its tests, or has some in spite of its reason', async () => {
    const lost = ONE_EACH.filter(([file]) => file !== 'runs')
    await expect(matrix('check', lost)).rejects.toThrow('Stored runs, Node: has neither tests nor a reason')
    const tests: Test[] = [...ONE_EACH, ['next', 'an Edge route', 'A2A', 'works']]
    await expect(matrix('check', tests)).rejects.toThrow('A2A, Next.js, Edge: has tests, and a reason')
    await expect(matrix('check', ONE_EACH, 'failed')).rejects.toThrow('has neither tests nor a reason')
  })

  it('says that the document has another cell', async () => {
    await writeFile(join(folder, 'docs/runtimes.md'), document.replace(/(Client \|) \d+/, '$1 –'))
    await expect(matrix('check', ONE_EACH)).rejects.toThrow('docs/runtimes.md is not what the reports say')
  })
})
