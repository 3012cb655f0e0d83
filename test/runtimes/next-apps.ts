/** Installs Next in a folder of its own, builds apps and starts them. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Deployment } from '../contracts/runs/client.ts'
import { root, start } from './process.ts'

/** The example, the contracts' services in each of Next's runtimes, and one that shares a database with itself. */
const APPS = {
  example: 'examples/next',
  node: 'test/runtimes/next/node',
  edge: 'test/runtimes/next/edge',
  serverless: 'test/runtimes/next/serverless',
} as const

type App = keyof typeof APPS

export interface NextApps {
  /** The folder in which they were built and run. */
  readonly folder: string
  /** Starts a built app with environment variables. Default of the port: any free one. */
  start(app: App, env?: Record<string, string>, port?: string): Promise<Deployment>
  remove(): Promise<void>
}

/** Copies the apps and their sources into a new folder, and builds them there with environment variables. */
export async function buildNextApps(
  apps: readonly App[],
  env: Record<string, string> = {},
): Promise<NextApps> {
  const parent = join(root, 'test/.tmp')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'next-'))
  for (const path of ['tsconfig.json', 'src', 'examples', 'test/contracts', 'test/runtimes/next']) {
    const filter = (source: string) => !/[\\/](node_modules|\.next)$/.test(source)
    await cp(join(root, path), join(folder, path), { recursive: true, filter })
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(await manifest()))
  const bin = (name: string) => join(folder, 'node_modules/.bin', name)
  await run({ cwd: folder }, join(root, 'node_modules/.bin/bun'), 'install', '--no-save')
  for (const app of apps) await run({ cwd: folder, env }, bin('next'), 'build', join(folder, APPS[app]))
  return {
    folder,
    async start(app, env = {}, port = '0') {
      const { ready, ...started } = await start({
        command: bin('next'),
        args: ['start', join(folder, APPS[app]), '--hostname', '127.0.0.1', '--port', port],
        until: /Local:\s+(http:\/\/\S+:\d+)[\s\S]*Ready in/,
        env: { NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...env },
        cwd: folder,
      })
      return { ...started, runtime: 'node', url: ready[1] ?? '', folder: undefined }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
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
  await promisify(execFile)(command, args, { cwd, env }).catch(error => {
    throw new Error(`${command} ${args.join(' ')}: ${error.stdout}${error.stderr}`)
  })
}
