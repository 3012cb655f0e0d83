/** A PostgreSQL server of its own for tests, in a folder of its own. */
import { execFile, spawn } from 'node:child_process'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface PostgresServer {
  readonly url: string
  /** The address of another, empty database on the same server. */
  database(): Promise<string>
  stop(): Promise<void>
}

/** Debian's folder of programs of the newest version there is. */
async function programs(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql')
  return join('/usr/lib/postgresql', versions.sort((a, b) => Number(a) - Number(b)).at(-1) ?? '', 'bin')
}

/** PostgreSQL refuses to be root's. */
function asUser(command: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]]
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]]
}

export async function startPostgres(): Promise<PostgresServer> {
  const bin = await programs()
  const folder = await mkdtemp(join(tmpdir(), 'servable-postgres-'))
  if (process.getuid?.() === 0) {
    const { stdout } = await run('id', ['-u', 'postgres'])
    const { stdout: group } = await run('id', ['-g', 'postgres'])
    await chown(folder, Number(stdout), Number(group))
  }
  const data = join(folder, 'data')
  await run(
    ...asUser(join(bin, 'initdb'), [
      '-D',
      data,
      '-U',
      'test',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-sync',
      '--locale=C.UTF-8',
    ]),
  )
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'max_connections=200',
  ]
  const server = spawn(
    ...asUser(join(bin, 'postgres'), [
      '-D',
      data,
      '-p',
      String(port),
      ...settings.flatMap(each => ['-c', each]),
    ]),
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', chunk => {
      log += chunk
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('exit', code => reject(new Error(`postgres ended with ${code}: ${log}`)))
  })
  const urlOf = (name: string) => `postgres://test@127.0.0.1:${port}/${name}`
  let count = 0
  return {
    url: urlOf('postgres'),
    async database() {
      const name = `db${++count}`
      await run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'test', name])
      return urlOf(name)
    },
    async stop() {
      const ended = new Promise(resolve => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
