/** A PostgreSQL server of its own for tests, in a folder of its own. */
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { once, RUN_FOLDER } from '../../once.ts'

const run = promisify(execFile)

export interface PostgresServer {
  readonly url: string
  /** The folder of its files. */
  readonly folder: string
  /** The text of its certificate; undefined without one. */
  readonly certificate: string | undefined
  /** The address of another, empty database on the same server. */
  database(): Promise<string>
  /** Sends a signal to all of its processes. */
  signal(signal: NodeJS.Signals): void
  /** Ends it at once, and starts it again on the same port. */
  restart(): Promise<void>
  /** Ends it: with SIGQUIT at once, with SIGINT in order. */
  down(signal: 'SIGQUIT' | 'SIGINT'): Promise<void>
  /** Starts it again on the same port. */
  up(): Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  readonly isDurable?: boolean
  readonly hasTls?: boolean
  readonly settings?: readonly string[]
}

/** Debian's folder of programs of the newest version there is. */
async function programs(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql')
  return join('/usr/lib/postgresql', versions.sort((a, b) => Number(a) - Number(b)).at(-1) ?? '', 'bin')
}

/** PostgreSQL and PgBouncer refuse to be root's. */
export function asUser(command: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]]
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]]
}

/** The user whose they are then. */
export async function userIds(): Promise<{ readonly user: number; readonly group: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [user, group] = await Promise.all(['-u', '-g'].map(flag => run('id', [flag, 'postgres'])))
  return { user: Number(user?.stdout), group: Number(group?.stdout) }
}

/** Makes the files of a new cluster. */
async function initialize(bin: string, data: string): Promise<void> {
  const settings = ['-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8']
  await run(...asUser(join(bin, 'initdb'), ['-D', data, ...settings]))
}

/** Makes them for all tests. PostgreSQL's user may write only into a folder of its own. */
async function template(folder: string): Promise<void> {
  const own = await ownFolder()
  await initialize(await programs(), join(own, 'data'))
  await run('cp', ['-a', join(own, 'data'), folder])
  await rm(own, { recursive: true })
}

async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'servable-postgres-'))
  const ids = await userIds()
  if (ids !== undefined) await chown(folder, ids.user, ids.group)
  return folder
}

/**
 * Starts one. With `isDurable` each commit waits for the disk, as by default; tests need no disk. With `hasTls` it takes TLS as well, with
 * a certificate that it has signed itself, for 127.0.0.1. `settings` are more of its settings.
 */
export async function startPostgres({
  isDurable = false,
  hasTls = false,
  settings: more = [],
}: PostgresOptions = {}): Promise<PostgresServer> {
  const bin = await programs()
  const folder = await ownFolder()
  const data = join(folder, 'data')
  if (process.env[RUN_FOLDER] === undefined) await initialize(bin, data)
  else await run('cp', ['-a', join(await once('postgres', template), 'data'), data])
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    ...(isDurable ? [] : ['fsync=off']),
    'max_connections=200',
    ...(hasTls ? await certificateIn(folder) : []),
    ...more,
  ]
  const begin = async () => {
    const args = ['-D', data, '-p', String(port), ...settings.flatMap(each => ['-c', each])]
    const child = spawn(...asUser(join(bin, 'postgres'), args), { stdio: ['ignore', 'ignore', 'pipe'] })
    let log = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', chunk => {
        log += chunk
        if (log.includes('ready to accept connections')) resolve()
      })
      child.once('exit', code => reject(new Error(`postgres ended with ${code}: ${log}`)))
    })
    return child
  }
  let server = await begin()
  let isFrozen = false
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise(resolve => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }
  const signal = (name: NodeJS.Signals) => {
    isFrozen = name === 'SIGSTOP'
    // Each connection is a process of its own, a child of the server.
    for (const pid of [server.pid!, ...childrenOf(server.pid!)]) process.kill(pid, name)
  }
  const urlOf = (name: string) => `postgres://test@127.0.0.1:${port}/${name}`
  let count = 0
  return {
    url: urlOf('postgres'),
    folder: data,
    certificate: hasTls ? readFileSync(join(folder, 'certificate.pem'), 'utf8') : undefined,
    async database() {
      const name = `db${++count}`
      await run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'test', name])
      return urlOf(name)
    },
    signal,
    async restart() {
      await end('SIGQUIT')
      server = await begin()
    },
    down: end,
    async up() {
      server = await begin()
    },
    async stop() {
      // One that is frozen hears nothing.
      if (isFrozen) signal('SIGCONT')
      await end('SIGINT')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes a certificate for 127.0.0.1, and gives the settings that use it. It is in `certificate.pem`. */
async function certificateIn(folder: string): Promise<string[]> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']
  await run('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', certificate, ...subject])
  const ids = await userIds()
  if (ids !== undefined) await chown(key, ids.user, ids.group)
  return ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`]
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

export function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
