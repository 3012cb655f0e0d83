/** The snippets of the pages about plugins do what the pages say. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Handler } from '../src/index.ts'
import { root } from './runtimes/process.ts'

const run = promisify(execFile)
const { exports: entries } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8')) as {
  exports: Record<string, string>
}

let folder: string
beforeAll(async () => {
  await mkdir(join(root, 'test/.tmp'), { recursive: true })
  folder = await mkdtemp(join(root, 'test/.tmp/pages-'))
  for (const page of ['plugins.md', 'smaller-bundles.md']) {
    const text = await readFile(join(root, 'docs', page), 'utf8')
    for (const [, name = '', code = ''] of text.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)^```$/gm)) {
      await writeFile(join(folder, name), fromSources(code))
    }
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A snippet that imports the sources of each entry. */
function fromSources(text: string): string {
  return text.replace(/'servable(\/[\w-]+)?'/g, (_, path = '') => {
    return JSON.stringify(join('../../..', entries[`.${path}`] ?? 'unknown'))
  })
}

async function get(name: string, path: string): Promise<string> {
  const { handler }: { handler: Handler } = await import(pathToFileURL(join(folder, name)).href)
  return (await handler(new Request(`http://127.0.0.1${path}`))).text()
}

describe('the pages about plugins', () => {
  it('have snippets that type-check', async () => {
    const config = {
      extends: '../../tsconfig.json',
      include: ['.', '../../../src/runtimes/cloudflare/modules.d.ts'],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--noEmit'], { cwd: root })
  })

  it('show a plugin of one route', async () => {
    expect(await get('greeting-plugin.ts', '/api/greeting')).toBe('Hello from echo')
  })

  it('show the core with two plugins, and nothing else', async () => {
    expect(JSON.parse(await get('core.ts', '/.well-known/agent-card.json'))).toMatchObject({ name: 'echo' })
    expect(JSON.parse(await get('core.ts', '/api/metrics'))).toMatchObject({ status: 404 })
  })

  it('show a Worker that can be bundled', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'core-worker.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['workerd', 'worker'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    })
    expect(outputFiles[0]?.text).toContain('ServableGateway')
  })
})
