/** Claude Code, as it comes, asks agents of a service. It needs no account. */
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { served } from '../contracts/served.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { deploymentsOf } from '../runtimes/deployments.ts'

let installed: Installed
let home: string
beforeAll(async () => {
  installed = await install('claude-code', [])
  home = await mkdtemp(join(installed.folder, 'home-'))
})
afterAll(() => installed?.remove())

const { nodeInMemory } = deploymentsOf('anthropic-clients')
const server = served(() => nodeInMemory(''))

interface Ended {
  readonly code: number
  readonly said: string
}

/** Runs the program once. Each test has a folder of its own, in which it finds its last conversation. */
async function claude(folder: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const binary = `node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`
  const options = {
    cwd: folder,
    timeout: 60_000,
    env: {
      ...{ PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: `${server().url}/anthropic` },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' },
      ...env,
    },
  }
  const asked = promisify(execFile)(join(installed.folder, binary), ['-p', ...args], options)
  asked.child.stdin?.end()
  return asked.then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout }) => ({ code, said: stdout }),
  )
}

const folderOf = () => mkdtemp(join(installed.folder, 'work-'))
const TOKEN = { ANTHROPIC_AUTH_TOKEN: 'ann' }

describe('Claude Code', () => {
  it.each([{ ANTHROPIC_API_KEY: 'ann' }, TOKEN])('is answered with the credentials %o', async env => {
    const { code, said } = await claude(
      await folderOf(),
      ['Ann', '--model', 'says'],
      env as Record<string, string>,
    )
    expect([code, said]).toEqual([0, expect.stringMatching(/Hello, [\s\S]*Ann!\n$/)])
    const wrong = Object.fromEntries(Object.keys(env).map(name => [name, 'wrong']))
    const refused = await claude(await folderOf(), ['Ann', '--model', 'says'], {
      ...wrong,
      CLAUDE_CODE_MAX_RETRIES: '0',
    })
    expect(refused.code).not.toBe(0)
  })

  it('runs a tool of its own that the agent calls', async () => {
    const args = ['please echo hello-from-bash', '--model', 'shell', '--allowedTools', 'Bash(echo:*)']
    expect(await claude(await folderOf(), args, TOKEN)).toEqual({
      code: 0,
      said: 'Bash said: "hello-from-bash"\n',
    })
  })

  it('shows what the agent says after tools of its own', async () => {
    const { said } = await claude(await folderOf(), ['x', '--model', 'looks'], TOKEN)
    expect(said).toContain('21 degrees.')
  })

  it('goes on with a conversation', async () => {
    const folder = await folderOf()
    await claude(folder, ['one', '--model', 'remembers'], TOKEN)
    const { said } = await claude(folder, ['two', '--continue', '--model', 'remembers'], TOKEN)
    expect(said).toMatch(/^user [\s\S]*one, assistant [\s\S]*> two\n$/)
  })

  it('is told of a failure in the middle, and asks no more often than the page says', async () => {
    const before = server().log().split('run.failed').length
    const env = { ...TOKEN, CLAUDE_CODE_MAX_RETRIES: '0' }
    const failed = await claude(await folderOf(), ['x', '--model', 'breaks'], env)
    expect([failed.code === 0, failed.said]).toEqual([false, expect.stringContaining('Half of ')])
    expect(server().log().split('run.failed').length - before).toBeLessThanOrEqual(4)
  })

  it('is told that there is no such model', async () => {
    const { code, said } = await claude(await folderOf(), ['x', '--model', 'nobody'], TOKEN)
    expect([code === 0, said]).toEqual([false, expect.stringContaining('model')])
  })
})
