/** What the page about keys shows does what it says. */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createId, createKey } from '../../src/features/keys/codec.ts'
import type { Handler } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { root } from '../runtimes/process.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['keys.md'])
const DEV = 'http://127.0.0.1:8787'
const page = await readFile(join(root, 'docs/run/keys.md'), 'utf8')

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(shown))
  await writeFile(join(folder, '.curlrc'), 'silent\nfail-with-body\n')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const handlerOf = async (name: string) => (await load<{ handler: Handler }>(folder, name)).handler

describe('the page about keys', () => {
  it('shows commands that issue a key and use it', async () => {
    const server = await serve(await handlerOf('keys-server.ts'), { port: 0 })
    try {
      let key = ''
      const said: string[] = []
      for (const command of commandsIn(shown)) {
        const env = { ...process.env, CURL_HOME: folder, KEY: key }
        const { stdout } = await run('sh', ['-c', command.replaceAll(DEV, server.url)], { cwd: root, env })
        key = JSON.parse(stdout).key ?? key
        said.push(stdout)
      }
      expect(JSON.parse(said.at(-1) ?? '').text).toBe('Hello by ada')
    } finally {
      await server.close()
    }
  })

  it('shows how keys and tokens come in the same header', async () => {
    const handler = await handlerOf('keys-and-tokens.ts')
    const ask = (path: string, body: object, headers: Record<string, string>) =>
      handler(new Request(`http://127.0.0.1/api/${path}`, jsonRequest(body, headers)))
    const asked = { owner: 'ada', name: 'x', scopes: ['run', 'approver'] }
    const { key } = await (await ask('keys', asked, { authorization: 'Bearer admin-token' })).json()
    const text = async (credential: string) => {
      const response = await ask('agents/echo/run', { input: 'hi' }, { 'x-service-key': credential })
      return (await response.json()).text
    }
    expect(await Promise.all([key, 'let-me-in', 'nothing'].map(text))).toEqual([
      'hi by ada',
      'hi by bob',
      undefined,
    ])
  })

  it('shows a pattern that finds keys', () => {
    const pattern = /^sk_servable_\[.*$/m.exec(page)?.[0] ?? 'none'
    for (let count = 0; count < 100; count++)
      expect(createKey(createId())).toMatch(new RegExp(`^${pattern}$`))
  })
})
