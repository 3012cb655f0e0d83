/** Builds the apps of Next once for all tests, and starts them. */
import { execFile } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Deployment } from '../contracts/runs/client.ts'
import { once } from '../once.ts'
import { root, start } from './process.ts'

/** The example, and the contracts' services in each of Next's runtimes. */
const APPS = {
  example: 'examples/next',
  node: 'test/runtimes/next/node',
  edge: 'test/runtimes/next/edge',
} as const

export interface NextApps {
  /** The folder in which they were built and run. */
  readonly folder: string
  /** Starts an app with environment variables. Default of the port: any free one. */
  start(app: keyof typeof APPS, env?: Record<string, string>, port?: string): Promise<Deployment>
}

/** Copies the apps and their sources, installs Next there and builds them. A build that asks the database of an app fails. */
async function buildIn(folder: string): Promise<void> {
  for (const path of ['tsconfig.json', 'src', 'examples', 'test/contracts', 'test/runtimes/next']) {
    const filter = (source: string) => !/[\\/](node_modules|\.next)$/.test(source)
    await cp(join(root, path), join(folder, path), { recursive: true, filter })
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(await manifest()))
  await run({ cwd: folder }, join(root, 'node_modules/.bin/bun'), 'install', '--no-save')
  const database = await startNoDatabase()
  const env = { DATABASE: `postgres://nobody@127.0.0.1:${database.port}/none` }
  try {
    for (const app of Object.values(APPS))
      await run({ cwd: folder, env }, join(folder, NEXT), 'build', join(folder, app))
  } finally {
    await database.stop()
  }
  if (database.asked() > 0) throw new Error('next build has asked the database of an app')
}

const NEXT = 'node_modules/.bin/next'

/** Counts those who would ask a database. */
async function startNoDatabase(): Promise<{ port: number; asked(): number; stop(): Promise<void> }> {
  let asked = 0
  const server = createServer(socket => {
    asked++
    socket.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    asked: () => asked,
    stop: () => new Promise(resolve => server.close(() => resolve())),
  }
}

/** The apps, which the first test file that needs them builds. */
export async function nextApps(): Promise<NextApps> {
  const folder = await once('next', buildIn)
  return {
    folder,
    async start(app, env = {}, port = '0') {
      const { ready, ...started } = await start({
        command: join(folder, NEXT),
        args: ['start', join(folder, APPS[app]), '--hostname', '127.0.0.1', '--port', port],
        until: /Local:\s+(http:\/\/\S+:\d+)[\s\S]*Ready in/,
        env: { NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...env },
        cwd: folder,
      })
      return { ...started, runtime: 'node', url: ready[1] ?? '', folder: undefined }
    },
  }
}

/** The dependencies of the apps and the sources. */
async function manifest(): Promise<object> {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'))
  const [library, example] = await Promise.all([read('package.json'), read('examples/next/package.json')])
  const optional = OPTIONAL.map(name => [name, library.devDependencies[name]])
  const { sideEffects, dependencies } = library
  const all = {
    ...dependencies,
    ...Object.fromEntries(optional),
    ...example.dependencies,
    ...example.devDependencies,
  }
  return { private: true, type: 'module', sideEffects, dependencies: all }
}

/** Dependencies of the admin routes, of remote agents, of model-backed agents, of traces and of the state in PostgreSQL. */
const OPTIONAL = [
  '@a2a-js/sdk',
  '@modelcontextprotocol/client',
  '@ai-sdk/openai-compatible',
  '@opentelemetry/api',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
  'ai',
  'postgres',
]

/** Milliseconds that a tool may take: less than the hooks that wait for it. */
const TOOL_MS = 540_000

/** Runs a tool. Its error contains the output. */
async function run(
  { cwd, env: more }: { cwd: string; env?: Record<string, string> },
  command: string,
  ...args: string[]
): Promise<void> {
  // With the test runner's variables, Next would build for tests.
  const env: NodeJS.ProcessEnv = {
    ...{ ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    ...more,
  }
  await promisify(execFile)(command, args, { cwd, env, timeout: TOOL_MS }).catch(error => {
    throw new Error(`${command} ${args.join(' ')}: ${error.stdout}${error.stderr}`)
  })
}
