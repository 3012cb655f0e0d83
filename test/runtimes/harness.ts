/**
 * Starts real servers, each as a process of its own on a free loopback port.
 *
 * An entry for Node, Bun or Deno listens on the port in the environment variable PORT (0: any free one) and
 * prints `listening http://127.0.0.1:<port>`. An entry for workerd is a Worker: `export default { fetch }`. A service of
 * `test/contracts` makes a handler, and an entry `…-server.ts` exports one: `listeners.ts` writes their programs.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { nodeEntry } from './bundled-entries.ts'
import { programOf } from './listeners.ts'
import { root, type Started, start } from './process.ts'
import { writeWorker } from './worker.ts'

export type RuntimeName = 'node' | 'bun' | 'deno' | 'workerd' | 'wrangler'

export interface Runtime {
  runtime: RuntimeName
  /** The address, without a slash at the end. */
  url: string
  /** Ends the process and everything that it started, and waits until they are gone. */
  stop(): Promise<void>
  /** The same with `kill -9`. */
  kill(): Promise<void>
  /** The id of the process. */
  pid: number
  /** The output of the process so far, both streams in one. */
  log(): string
}

export interface StartOptions {
  /** Arguments of the entry. */
  args?: string[]
  /** Environment variables. On workerd and wrangler they are the Worker's text bindings. */
  env?: Record<string, string>
}

const denoVersion = '2.9.6'
const listening = /listening (http:\/\/127\.0\.0\.1:\d+)/
// It is not an import, since a CommonJS module's default differs between Node and the test runner.
const require = createRequire(import.meta.url)
const workerd: string = require('workerd').default
const keepCompiled = new URL('keep-compiled.ts', import.meta.url).href
const bin = (name: string) => join(root, 'node_modules/.bin', name)

function runtime(name: RuntimeName, started: Started, url = started.ready[1] ?? ''): Runtime {
  const { pid, stop, kill, log } = started
  return { runtime: name, url, pid, stop, kill, log }
}

function withPort(env: Record<string, string> = {}): Record<string, string> {
  return { PORT: '0', ...env }
}

export async function startNode(entry: string, options: StartOptions = {}): Promise<Runtime> {
  const file = await nodeEntry(entry)
  const args = ['--import', keepCompiled, file ?? (await programOf(entry, 'node')), ...(options.args ?? [])]
  // What Node compiles of a bundle goes with the bundle.
  const compiled = file && { NODE_COMPILE_CACHE: join(dirname(file), 'compiled') }
  const env = { ...compiled, ...withPort(options.env) }
  return runtime('node', await start({ command: process.execPath, args, env, until: listening }))
}

export async function startBun(entry: string, options: StartOptions = {}): Promise<Runtime> {
  const args = [await programOf(entry, 'bun'), ...(options.args ?? [])]
  const env = withPort(options.env)
  return runtime('bun', await start({ command: bin('bun'), args, env, until: listening }))
}

/** Starts Deno. It may use only the loopback network and the named environment variables. `allow` adds permissions. */
export async function startDeno(
  entry: string,
  options: StartOptions & { allow?: readonly string[]; names?: readonly string[] } = {},
): Promise<Runtime> {
  const env = withPort(options.env)
  const { allow = [], names = [] } = options
  const few = ['--allow-net=127.0.0.1', `--allow-env=${[...Object.keys(env), ...names].join(',')}`]
  const flags = ['--config', 'deno.json', '--no-prompt', ...(allow.includes('--allow-all') ? [] : few)]
  const args = ['run', ...flags, ...allow, await programOf(entry, 'deno'), ...(options.args ?? [])]
  return runtime(
    'deno',
    await start({
      command: await denoPath(),
      args,
      env: { DENO_NO_PACKAGE_JSON: '1', DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', ...env },
      until: listening,
    }),
  )
}

export interface WorkerdOptions extends StartOptions {
  storage?: string
  objects?: Record<string, string>
  /** Serves the same Worker also from a second isolate, at `secondUrl`. */
  hasSecond?: boolean
}

/**
 * Starts bare workerd without a proxy, so that connection events reach the Worker. Its Durable Objects are in the folder
 * `storage`, which remains. Without `storage` they are deleted when it stops.
 */
export async function startWorkerd(
  entry: string,
  options: WorkerdOptions = {},
): Promise<Runtime & { secondUrl: string }> {
  const { env, storage, objects, hasSecond = false } = options
  const files = await writeWorker(entry, { vars: env, storage, objects, hasSecond })
  try {
    const started = await start({
      command: workerd,
      args: ['serve', files.configPath, '--control-fd=1'],
      until: /"event":"listen","socket":"http","port":(\d+)/,
    })
    const stop = () => started.stop().then(files.remove)
    const kill = () => started.kill().then(files.remove)
    const [, second] = /"socket":"second","port":(\d+)/.exec(started.log()) ?? []
    const at = (port: string | undefined) => `http://127.0.0.1:${port}`
    return {
      ...runtime('workerd', { ...started, stop, kill }, at(started.ready[1])),
      secondUrl: at(second),
    }
  } catch (error) {
    await files.remove()
    throw error
  }
}

/**
 * Runs `npm run dev` as in the README, on a free port. Its state is in the folder `storage`, which remains. Without `storage`
 * it is deleted when it stops.
 */
export async function startWrangler({
  env = {},
  storage,
}: Pick<WorkerdOptions, 'env' | 'storage'> = {}): Promise<Runtime> {
  const folder = storage ?? (await mkdtemp(join(tmpdir(), 'servable-dev-')))
  const remove = async () => {
    if (storage === undefined) await rm(folder, { recursive: true, force: true })
  }
  const vars = Object.entries(env).flatMap(([name, text]) => ['--var', `${name}:${text}`])
  const ports = ['--port', String(await freePort()), '--inspector-port', '0']
  const started = await start({
    command: 'npm',
    args: ['run', 'dev', '--', ...ports, '--persist-to', folder, ...vars],
    until: /Ready on (http:\/\/127\.0\.0\.1:\d+)/,
    env: { NO_COLOR: '1' },
  })
  const stop = () => started.stop().then(remove)
  const kill = () => started.kill().then(remove)
  return runtime('wrangler', { ...started, stop, kill })
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return address && typeof address === 'object' ? address.port : 0
}

/**
 * The path of Deno's own binary: DENO_BIN if set, otherwise the npm package's, which its launcher knows. The launcher itself
 * cannot be used, since it would be a process between the test and the server.
 */
export async function denoPath(): Promise<string> {
  process.env.DENO_BIN ??= await findDeno()
  return process.env.DENO_BIN
}

async function findDeno(): Promise<string> {
  const script = 'console.log(Deno.execPath())'
  const args = ['-y', '-p', `deno@${denoVersion}`, 'deno', 'eval', script]
  const env = { ...process.env, DENO_NO_PACKAGE_JSON: '1', DENO_NO_UPDATE_CHECK: '1' }
  const { stdout } = await promisify(execFile)('npx', args, { env, cwd: root })
  return stdout.trim().split('\n').at(-1) ?? ''
}
