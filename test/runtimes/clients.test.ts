/** Clients made from the OpenAPI document of a guarded service by two generators: they compile, and run agents. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { served } from '../contracts/served.ts'
import { startNode } from './harness.ts'
import { root } from './process.ts'

describe('generated clients', () => {
  const server = served(() => startNode('test/runtimes/entries/docs-node.ts'))
  let folder: string
  /** Runs a tool of the folder, which has a TypeScript of its own; the error of a failure says what it printed. */
  const run = async (command: string, ...args: string[]): Promise<string> => {
    const env = { ...process.env, SERVER: server().url }
    const ran = await promisify(execFile)(command, args, { cwd: folder, env }).catch(error => {
      throw new Error(`${command}: ${error.stdout}${error.stderr}`)
    })
    return ran.stdout
  }
  const tool = (name: string) => join(folder, 'node_modules/.bin', name)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-clients-'))
    await cp(join(root, 'test/protocols/openapi/clients'), folder, { recursive: true })
    await run('npm', 'install', '--no-audit', '--no-fund', '--no-package-lock')
    const headers = { authorization: 'Bearer token-of-ada' }
    const document = await fetch(`${server().url}/bearer/api/docs/spec.json`, { headers })
    await writeFile(join(folder, 'openapi.json'), await document.text())
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('compile, and get results, streams and problems', async () => {
    await run(tool('openapi-typescript'), 'openapi.json', '-o', 'schema.d.ts')
    await run(tool('openapi-ts'), '-i', 'openapi.json', '-o', 'sdk', '-c', '@hey-api/client-fetch')
    await run(tool('tsc'), '-p', 'tsconfig.json')
    expect(JSON.parse(await run(join(root, 'node_modules/.bin/bun'), 'use.ts'))).toEqual({
      fetch: {
        text: 'typed',
        wrong: 'invalid_body',
        nobody: 'agent_not_found',
        agents: ['calculator', 'caller', 'caterer', 'echo', 'summarizer', 'tailor'],
      },
      sdk: {
        text: 'typed',
        keyed: 'keyed',
        missing: 'run_not_found',
        streamed: 'one two',
        last: 'finish',
      },
    })
  })
})
