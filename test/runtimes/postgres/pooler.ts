/** PgBouncer in transaction mode, in a folder of its own. */
import { spawn } from 'node:child_process'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asUser, freePort, userIds } from './server.ts'

export interface Pooler {
  readonly url: string
  stop(): Promise<void>
}

/** Starts it before a database. It holds four connections, fewer than its clients. */
export async function startPooler(target: string): Promise<Pooler> {
  const { port, pathname, username } = new URL(target)
  const folder = await mkdtemp(join(tmpdir(), 'servable-pooler-'))
  const own = await freePort()
  const name = pathname.slice(1)
  await writeFile(join(folder, 'users.txt'), `"${username}" ""\n`)
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users.txt'),
    pool_mode: 'transaction',
    default_pool_size: 4,
    max_client_conn: 200,
    ignore_startup_parameters: 'extra_float_digits',
  }
  const file = join(folder, 'pgbouncer.ini')
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`)
  await writeFile(
    file,
    `[databases]\n${name} = host=127.0.0.1 port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  const ids = await userIds()
  if (ids !== undefined) await chown(folder, ids.user, ids.group)
  const child = spawn(...asUser('pgbouncer', [file]), { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', chunk => {
      log += chunk
      if (log.includes('process up')) resolve()
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`pgbouncer ended with ${code}: ${log}`)))
  })
  return {
    url: `postgres://${username}@127.0.0.1:${own}/${name}`,
    async stop() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
