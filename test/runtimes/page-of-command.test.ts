/** The commands of the page about `servable` do what the page says. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { commandsIn, fencesOf } from '../pages/pages.ts'
import { type Runtime, startNode } from './harness.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const EXPORT = 'export SERVABLE_URL=http://127.0.0.1:3000/api'
const commands = commandsIn(fencesOf(['command.md'])).flatMap(text => text.split('\n'))

describe('the page about the command', () => {
  let folder: string
  let server: Runtime
  let client: Client
  beforeAll(async () => {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/page-of-command-'))
    const state = sqliteState({ path: join(folder, 'servable.db') })
    await state.store.write(() => {})
    await state.store.close()
    server = await startNode('test/contracts/command/service.ts')
    await writeFile(join(folder, 'token.txt'), 'for-ada\n')
    const headers = { authorization: 'Bearer for-ada' }
    client = createClient({ baseUrl: `${server.url}/api`, headers })
  })
  afterAll(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('begins with where the service is', () => {
    expect(commands[0]).toBe(EXPORT)
    expect(commands.length).toBeGreaterThan(8)
  })

  /** Checks what a command has said of a run. */
  async function expectSaid(
    command: string,
    { stdout, stderr, id }: Record<'stdout' | 'stderr' | 'id', string>,
  ) {
    if (/tenants|agents|doctor/.test(command))
      expect(stdout).toMatch(
        /the tenant acme|^(Paused|Resumed) the agent opens\n$|^ok +The service reads and/,
      )
    else if (/log(in|out)/.test(command)) expect(stderr).toMatch(/^Logged (in|out)/)
    else if (command.includes('--output'))
      expect(await readFile(join(folder, 'turns.jsonl'), 'utf8')).toContain(id)
    else if (command.includes('prune')) expect(stdout).toContain('nothing was written')
    else if (command.includes('delete')) expect(stdout).toContain('Deleted the session chat-1')
    else expect(stdout).toMatch(command.includes('--after') ? /^\{"id":/ : new RegExp(id))
  }

  it.each(commands.slice(1))('%s', async command => {
    expect(command).toMatch(/^npx servable /)
    // What has ended cannot be cancelled.
    const name = command.includes('runs cancel') ? 'waits' : 'echo'
    const { id } = await client.runs.start({ kind: 'agent', name }, 'hello', { sessionId: 'chat-1' })
    if (name === 'echo') await client.runs.result(id)
    const cli = `"${process.execPath}" "${join(root, 'src/command/cli.ts')}"`
    const { stdout, stderr } = await run('sh', ['-c', command.replace('npx servable', cli)], {
      cwd: folder,
      env: {
        ...{
          SERVABLE_URL: `${server.url}/api`,
          SERVABLE_TOKEN: /tenants|agents/.test(command) ? 'for-root' : 'for-ada',
          RUN: id,
          PATH: process.env.PATH,
        },
        XDG_CONFIG_HOME: folder,
      },
    })
    await expectSaid(command, { stdout, stderr, id })
  })
})
