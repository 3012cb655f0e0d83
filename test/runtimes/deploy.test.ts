/** The Worker and the servers of the pages about deploying, as they stand there. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonRequest } from '../contracts/http/client.ts'
import { needing } from '../needing.ts'
import { fencesOf, fromSources, snippetOf } from '../pages/pages.ts'
import { startBun, startDeno, startNode } from './harness.ts'
import { startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const run = promisify(execFile)
/** A snippet that imports the sources, on a free port. */
const sourceOf = (name: string) => fromSources(snippetOf(name)).replace('port: 3000', 'port: 0')

describe('the pages about deploying', () => {
  let folder: string
  beforeAll(async () => {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/deploy-'))
    const [{ text: toml = '' } = {}] = fencesOf(['deploy-workers.md']).filter(
      ({ language }) => language === 'toml',
    )
    const files = {
      'first.ts': sourceOf('deploy.ts'),
      'agents.ts': "export { echo } from '../../../examples/agents/echo.ts'\n",
      'worker.ts': sourceOf('deploy-worker.ts'),
      'node.ts': sourceOf('deploy-node.ts'),
      'several.ts': sourceOf('several-machines.ts'),
      'bun.ts': sourceOf('deploy-bun.ts'),
      'deno.ts': sourceOf('deploy-deno.ts'),
      'bare-bun.ts': sourceOf('deploy-bare-bun.ts'),
      'bare-deno.ts': sourceOf('deploy-bare-deno.ts'),
      'wrangler.toml': toml.replace('"node_modules/', `"${root}node_modules/`),
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('has a Worker that wrangler would deploy, with all its bindings', { timeout: 300_000 }, async () => {
    const env = {
      ...process.env,
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_SEND_METRICS: 'false',
      NO_COLOR: '1',
    }
    const wrangler = join(root, 'node_modules/.bin/wrangler')
    const args = ['deploy', '--dry-run', '--outdir', 'dist']
    const { stdout } = await run(wrangler, args, { cwd: folder, env })
    for (const name of ['RUN', 'INDEX', 'GATEWAY', 'METRICS']) {
      expect(stdout).toMatch(new RegExp(`env\\.SERVABLE_${name}.*Durable Object`))
    }
    expect(stdout).toMatch(/env\.ASSETS.*Assets/)
    expect(stdout).toContain('--dry-run: exiting now')
  })

  needing('postgresql').it('has a server that keeps runs in PostgreSQL', async context => {
    const database = await startPostgres()
    context.onTestFinished(() => database.stop())
    const server = await startNode(join(folder, 'several.ts'), { env: { DATABASE_URL: database.url } })
    context.onTestFinished(() => server.stop())
    const request = jsonRequest({ input: 'kept' }, { prefer: 'respond-async' })
    const started = await fetch(`${server.url}/api/agents/echo/run`, request)
    const events = await fetch(`${server.url}${started.headers.get('location')}/stream`)
    expect(await events.text()).toContain('"finishReason":"stop"')
  })

  it.each([
    ['Node', startNode, 'first.ts'],
    ['Node, with SQLite', startNode, 'node.ts'],
    ['Bun', startBun, 'bun.ts'],
    ['Deno', startDeno, 'deno.ts'],
    ['Bun, without an entry of ours', startBun, 'bare-bun.ts'],
    ['Deno, without an entry of ours', startDeno, 'bare-deno.ts'],
  ] as const)('has a server for %s, which keeps runs', async (_, start, name) => {
    const DATABASE = join(folder, `${name}.db`)
    const allow = [`--allow-read=${folder}`, `--allow-write=${folder}`]
    const server = await start(join(folder, name), { env: { DATABASE }, allow })
    try {
      const request = jsonRequest({ input: 'kept' }, { prefer: 'respond-async' })
      const started = await fetch(`${server.url}/api/agents/echo/run`, request)
      const events = await fetch(`${server.url}${started.headers.get('location')}/stream`)
      expect(await events.text()).toContain('"finishReason":"stop"')
    } finally {
      await server.stop()
    }
  })
})
