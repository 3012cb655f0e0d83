/** The commands of the page about work that goes on do what it says. */

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Handler } from '../../src/index.ts'
import type { RunRecord } from '../../src/runs/stored/record.ts'
import { serve } from '../../src/runtimes/node.ts'
import { eventually } from '../eventually.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['resuming.md'])
const [start = '', follow = '', resume = '', retry = ''] = commandsIn(shown)

describe('docs/build/resuming.md', () => {
  let folder: string
  let server: Awaited<ReturnType<typeof serve>>
  const type = async (command: string, env = {}): Promise<string> => {
    const code = command.replaceAll('http://127.0.0.1:8787', server.url).replaceAll('curl ', 'curl -s ')
    const { stdout } = await run('sh', ['-c', code], { cwd: folder, env: { ...process.env, ...env } })
    return stdout
  }

  beforeAll(async () => {
    // The database is beside the page's files.
    const snippets = snippetsIn(shown)
    folder = await writeSnippets(snippets, text => text.replace('20_000', '0'))
    const there = process.cwd()
    process.chdir(folder)
    try {
      const { handler } = await load<{ handler: Handler }>(folder, 'resuming-first.ts')
      server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
    } finally {
      process.chdir(there)
    }
  })
  afterAll(async () => {
    await server?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('starts a run that is stored, and says that it cannot go on, and runs it again', async () => {
    const { id } = JSON.parse(await type(start)) as RunRecord
    const read = async () => (await fetch(`${server.url}/api/runs/${id}`)).json() as Promise<RunRecord>
    await eventually(async () => expect((await read()).status).toBe('completed'))
    const text = `charged for a shirt (${id}/charge), packed, shipped`
    expect((await read()).result?.text).toBe(text)
    const about = { RUN_ID: id, PROVIDER_KEY: 'a-key' }
    expect(await type(follow, about)).toContain(text)
    expect(JSON.parse(await type(resume, about))).toMatchObject({ code: 'not_resumable' })
    const again = JSON.parse(await type(retry, about))
    expect(again).toMatchObject({ text: `charged for a shirt (${again.runId}/charge), packed, shipped` })
  })
})
