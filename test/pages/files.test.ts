/** The commands of the page about files do what it says. */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Handler, RunResult } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['files.md'])
const [start = '', download = ''] = commandsIn(shown)

let folder: string
let server: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(shown))
  const { handler } = await load<{ handler: Handler }>(folder, 'files-first.ts')
  server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

it('the commands start a run and save its file', async () => {
  const type = async (command: string, env = {}) => {
    const code = command.replaceAll('http://127.0.0.1:8787', server.url).replaceAll('curl ', 'curl -sf ')
    return run('sh', ['-c', code], { cwd: folder, env: { ...process.env, ...env } })
  }
  const { runId, artifacts }: RunResult = JSON.parse((await type(start)).stdout)
  expect(artifacts?.[0]?.parts).toMatchObject([{ data: `/api/runs/${runId}/artifacts/picture` }])
  await type(download, { RUN_ID: runId })
  expect(String(await readFile(join(folder, 'picture.png')))).toBe('x'.repeat(10_000))
})
