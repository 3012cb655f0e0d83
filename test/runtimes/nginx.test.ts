/** Behind the real nginx, configured as docs/deploy.md has it, where Debian's nginx is installed, as it is on CI. */
import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientOf, connected, stock } from '../contracts/gateway/client.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { ask, expectAlive } from '../contracts/http/client.ts'
import { connectionCases, smokeCases } from '../contracts/http/connections.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { freePort, type Runtime, startNode } from './harness.ts'
import { root, start } from './process.ts'

const command = '/usr/sbin/nginx'
const isThere = existsSync(command)

/** What the notes say, for this server and on a free port. */
async function configFor(server: Runtime, port: number, folder: string): Promise<string> {
  const notes = await readFile(join(root, 'docs/deploy.md'), 'utf8')
  const [, shown = ''] = /^```nginx\n([\s\S]*?)^```$/m.exec(notes) ?? []
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
    daemon off;
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${paths.map(name => `${name}_temp_path ${folder}/${name};`).join('\n')}
      ${shown.replace('127.0.0.1:3000', new URL(server.url).host).replace('listen 80', `listen 127.0.0.1:${port}`)}
    }`
}

/** Starts a server and nginx before it. */
async function startBehind(entry: string): Promise<Deployment> {
  const [server, folder, port] = [await startNode(entry), await newFolder(), await freePort()]
  // nginx, started by root, works as somebody else.
  await chmod(folder.path, 0o755)
  const config = join(folder.path, 'nginx.conf')
  await writeFile(config, await configFor(server, port, folder.path))
  const args = ['-p', folder.path, '-c', config]
  const nginx = await start({ command, args, until: /start worker process \d+/ })
  const stop = async () => {
    await nginx.stop()
    await server.stop()
    await folder.remove()
  }
  return { ...server, url: `http://127.0.0.1:${port}`, folder: undefined, stop }
}

describe.skipIf(!isThere)(isThere ? 'behind nginx' : 'behind nginx (skipped: needs nginx)', () => {
  describe.concurrent('over HTTP', () => {
    const server = served(() => startBehind('test/runtimes/entries/node.ts'))
    smokeCases(server)
    connectionCases(server)

    it('lets uploads through that nginx would refuse by default', async () => {
      const body = new FormData()
      body.set('input', 'x')
      body.set('files', new File([new Uint8Array(4 << 20)], 'a.bin'))
      const { status } = await ask(server, '/images/agents/shout/run', { method: 'POST', body })
      // By the handler, which takes images alone.
      expect(status).toBe(415)
      await expectAlive(server)
    })
  })

  describe('a stock socket client', () => {
    const server = served(() => startBehind('test/runtimes/entries/gateway-node.ts'))
    runCases(server, async auth => {
      const socket = stock(server, { transports: ['websocket'], ...(auth && { auth }) })
      await connected(socket)
      return clientOf(socket)
    })

    it('begins with polling and is upgraded', async () => {
      const socket = stock(server)
      const upgraded = new Promise(resolve => socket.io.engine.once('upgrade', resolve))
      await connected(socket)
      expect(await upgraded).toMatchObject({ name: 'websocket' })
    })
  })
})
