/** The Worker and the server of docs/deploy.md, as they stand there. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonRequest } from '../contracts/http/client.ts'
import { startBun, startDeno, startNode } from './harness.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const notes = await readFile(join(root, 'docs/deploy.md'), 'utf8')
const fence = (language: string, start = '') =>
  new RegExp(`^\`\`\`${language}\\n(${start}[\\s\\S]*?)^\`\`\`$`, 'm').exec(notes)?.[1] ?? ''

/** A snippet that imports the sources. */
const fromSources = (text: string) =>
  text
    .replace(/'servable\/(\w+)'/g, (_, entry) => `'../../../src/runtimes/${entry}.ts'`)
    .replaceAll("'servable'", "'../../../src/index.ts'")

const onFreePort = (text: string) => text.replace('port: 3000', 'port: 0')

describe('docs/deploy.md', () => {
  let folder: string
  beforeAll(async () => {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/deploy-'))
    const server = fromSources(fence('ts', '// deploy-node\\.ts'))
    const files = {
      'first.ts': onFreePort(fromSources(fence('ts', '// deploy\\.ts'))),
      'agents.ts': "export { echo } from '../../../examples/agents/echo.ts'\n",
      'worker.ts': fromSources(fence('ts', '// deploy-worker\\.ts')),
      'node.ts': server,
      'bare-bun.ts': onFreePort(fromSources(fence('ts', '// deploy-bare-bun\\.ts'))),
      'bare-deno.ts': onFreePort(fromSources(fence('ts', '// deploy-bare-deno\\.ts'))),
      // As the notes say: the same with another `serve`.
      'bun.ts': server.replace('runtimes/node.ts', 'runtimes/bun.ts'),
      'deno.ts': server.replace('runtimes/node.ts', 'runtimes/deno.ts'),
      'wrangler.toml': fence('toml').replace('"node_modules/', `"${root}node_modules/`),
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('has a Worker that wrangler would deploy, with all its bindings', { timeout: 60_000 }, async () => {
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
