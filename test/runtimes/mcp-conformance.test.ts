/**
 * The official conformance suite of MCP against the service, on Node and on workerd.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { served } from '../contracts/served.ts'
import { NOT_PASSED } from '../frameworks/mcp-conformance/not-passed.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'
import { root } from './process.ts'

const DEMANDED: Readonly<Record<string, readonly string[]>> = {
  '2026-07-28': ['--requirements', '2026-07-28'],
  '2025-11-25': ['--suite', 'all', '--spec-version', '2025-11-25'],
  '2025-06-18': ['--suite', 'all', '--spec-version', '2025-06-18'],
}

/** How many scenarios a revision has, and how many of their checks are passed. */
const PASSED: Readonly<Record<string, object>> = {
  '2026-07-28': { scenarios: 50, passed: 185 },
  '2025-11-25': { scenarios: 33, passed: 77 },
  '2025-06-18': { scenarios: 27, passed: 53 },
}

let installed: Installed
beforeAll(async () => {
  installed = await install('mcp-conformance', [])
})
afterAll(() => installed?.remove())

const { nodeInMemory, workerd } = deploymentsOf('mcp-conformance')

// They mostly wait.
describe.concurrent('Node, in memory', () => conformanceCases(nodeInMemory))

describe.concurrent('workerd, in Durable Objects', ELSEWHERE, () => conformanceCases(workerd))

it('the page about MCP names the scenarios that are not passed, and what they need', async () => {
  const [, table = ''] = (await readFile(join(root, 'docs/connect/mcp.md'), 'utf8')).split(
    '| revision | scenario | needs |',
  )
  const told: string[] = []
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? []
  for (const row of rows) {
    const [, revisions = '', scenarios = '', needs = ''] = row.split('|').map(cell => cell.trim())
    const names = [...scenarios.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    for (const revision of revisions === 'all three' ? Object.keys(NOT_PASSED) : revisions.split(', '))
      for (const name of names)
        told.push(`${revision} ${name.replace(/^-/, 'input-required-result-')}: ${needs}`)
  }
  const known = Object.entries(NOT_PASSED).flatMap(([revision, scenarios]) =>
    Object.entries(scenarios).map(
      ([name, checks]) => `${revision} ${name}: ${[...new Set(Object.values(checks))].join(', ')}`,
    ),
  )
  expect(told.sort()).toEqual(known.sort())
})

interface Check {
  readonly id: string
  readonly status: string
}

function conformanceCases(deploy: Deploy): void {
  const server = served(() => deploy(''))

  // The suite itself waits for a quarter of a minute, and on a busy machine longer.
  it.each(Object.entries(DEMANDED))('%s', { timeout: 300_000 }, async (revision, demanded) => {
    const checks = await checksOf(`${server().url}/mcp`, demanded)
    const all = Object.values(checks).flat()
    const passed = all.filter(({ status }) => status === 'SUCCESS').length
    expect(failuresIn(checks)).toEqual(namesIn(NOT_PASSED[revision]))
    expect({ scenarios: Object.keys(checks).length, passed }).toEqual(PASSED[revision])
  })
}

/** Runs scenarios. Gives the checks of each. */
async function checksOf(url: string, demanded: readonly string[]): Promise<Record<string, Check[]>> {
  const output = await mkdtemp(join(installed.folder, 'checks-'))
  const suite = join(installed.folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const args = [suite, 'server', '--url', url, ...demanded, '--output-dir', output]
  // It fails when a check fails.
  await promisify(execFile)(process.execPath, args).catch(() => {})
  const folders = await readdir(output)
  const checks = folders.map(async folder => [
    folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
    JSON.parse(await readFile(join(output, folder, 'checks.json'), 'utf8')),
  ])
  return Object.fromEntries(await Promise.all(checks))
}

/** The checks that failed, by scenario. */
function failuresIn(checks: Readonly<Record<string, readonly Check[]>>): object {
  const failed = Object.entries(checks).map(([scenario, all]) => [
    scenario,
    all.flatMap(({ id, status }) => (status === 'FAILURE' ? [id] : [])).sort(),
  ])
  return Object.fromEntries(failed.filter(([, ids]) => ids?.length))
}

function namesIn(notPassed = {}): object {
  return Object.fromEntries(
    Object.entries(notPassed).map(([name, ids]) => [name, Object.keys(Object(ids)).sort()]),
  )
}
