/** The commands and clients of the pages work with the dev server, as the pages say. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, fencesOf, SOCKET_CLIENT_SAYS, snippetOf } from '../pages/pages.ts'
import { type Runtime, startWrangler } from './harness.ts'
import { root } from './process.ts'

const run = promisify(execFile)

const commands = commandsIn(fencesOf(['a2a.md', 'event-socket.md', 'metrics.md', 'tool-servers.md']))
const HOST = '127.0.0.1:8787'

describe('the pages, with the dev server', () => {
  let folder: string
  let dev: Runtime
  const host = () => new URL(dev.url).host
  beforeAll(async () => {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/commands-'))
    dev = await startWrangler({ env: { ADMIN_TOKEN: 'secret' } })
  })
  afterAll(async () => {
    await dev?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it.each(commands.filter(command => command.startsWith('curl')))('%s', async code => {
    expect(code).toContain(`http://${HOST}`)
    // A stream goes on for ever: its head is enough.
    const asked = code.replace('curl -N', 'curl --max-time 1').replace(HOST, host())
    const status = run('sh', ['-c', `${asked} -s -o /dev/null -w '%{http_code}'`])
    const { stdout } = await status.catch((error: { stdout: string }) => error)
    expect(stdout).toMatch(/^20[01]$/)
  })

  it.each([
    ['event-socket-client.ts', SOCKET_CLIENT_SAYS],
    ['event-socket-plain.ts', /^Hello[\s\S]*JSON\n$/],
  ])('%s', async (name, said) => {
    await writeFile(join(folder, name), snippetOf(name).replace(HOST, host()))
    const { stdout } = await run(process.execPath, [join(folder, name)])
    expect(stdout).toMatch(said)
  })
})
