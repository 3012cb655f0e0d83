/** Servers with settings, each with its runtime's state in a folder of its own. */
import { join } from 'node:path'
import { describe } from 'vitest'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'
import { entryOf } from './listeners.ts'
import type { PostgresServer } from './postgres/server.ts'

/** Starts a service with some settings. */
export type Deploy = (settings: string) => Promise<Deployment>

/** The ways to deploy a service, each with its state. */
export interface Deployments {
  readonly nodeInMemory: Deploy
  readonly node: Deploy
  readonly bun: Deploy
  readonly deno: Deploy
  readonly workerd: Deploy
}

/** Deno permissions beyond those of every entry: flags, and names of variables to read. */
export interface DenoNeeds {
  readonly denoAllow?: readonly string[]
  readonly denoNames?: readonly string[]
}

/** Starts a service on what is in a folder, which remains when it ends. */
export type Start = (folder: string, settings?: string) => Promise<Runtime>

/** The ways to start the service `name` on what was stored. */
export function startsOf(
  name: string,
  { denoAllow = [], denoNames = [] }: DenoNeeds = {},
): Readonly<Record<'node' | 'bun' | 'deno' | 'workerd', Start>> {
  const entry = (runtime: string) => entryOf(name, runtime)
  const environment = (folder: string, SETTINGS?: string) => ({
    env: { ...(SETTINGS !== undefined && { SETTINGS }), DATABASE: join(folder, `${name}.db`) },
  })
  return {
    node: (folder, settings) => startNode(entry('node'), environment(folder, settings)),
    bun: (folder, settings) => startBun(entry('bun'), environment(folder, settings)),
    deno: (folder, settings) =>
      startDeno(entry('deno'), {
        ...environment(folder, settings),
        allow: [`--allow-read=${folder}`, `--allow-write=${folder}`, ...denoAllow],
        names: ['SETTINGS', ...denoNames],
      }),
    workerd: (storage, SETTINGS) =>
      startWorkerd(entry('workerd'), { storage, env: { ...(SETTINGS !== undefined && { SETTINGS }) } }),
  }
}

/** Those whose stores tests of crashes tell apart. */
export function storesOf(name: string) {
  const { node, workerd } = startsOf(name)
  return { 'Node, in SQLite': node, 'workerd, in Durable Objects': workerd } as const
}

/** The deployments of the service `name`. */
export function deploymentsOf(name: string, needs: DenoNeeds = {}): Deployments {
  const { node, bun, deno, workerd } = startsOf(name, needs)
  return {
    nodeInMemory: async SETTINGS => ({
      ...(await startNode(entryOf(name, 'node'), { env: { SETTINGS } })),
      folder: undefined,
    }),
    node: storedIn(node),
    bun: storedIn(bun),
    deno: storedIn(deno, onDisk()),
    workerd: storedIn(workerd),
  }
}

/** Declares the tests of a deployment, which has the name of its `describe`. */
type Cases = (deploy: Deploy, name: string) => void

/**
 * Runs a contract in full in memory and in Durable Objects, `part` of it on Bun and on Deno (what a runtime can make differ), and
 * `stored` in SQLite (what a store can make differ). Without these they run all of it. `title` begins each title.
 */
export function everywhere(
  { nodeInMemory, node, bun, deno, workerd }: Deployments,
  contract: Cases,
  part: Cases = contract,
  { stored = contract, title = '' }: { readonly stored?: Cases; readonly title?: string } = {},
): void {
  describe(`${title}Node, in memory`, () => contract(nodeInMemory, 'Node, in memory'))
  describe.each([
    ['Node, in SQLite', node, stored],
    ['workerd, in Durable Objects', workerd, contract],
    ['Bun, in SQLite', bun, part],
    ['Deno, in SQLite', deno, part],
  ] as const)(`${title}%s`, ELSEWHERE, (name, deploy, cases) => cases(deploy, name))
}

/** Deploys the service `name` on Node, each in a PostgreSQL database of its own. */
export function inPostgres(name: string, server: () => PostgresServer): Deploy {
  return async SETTINGS => {
    const DATABASE = await server().database()
    const env = { SETTINGS, DATABASE, LISTEN: DATABASE, MAX: '4' }
    const runtime = await startNode(entryOf(name, 'node'), { env })
    return { ...runtime, folder: server().folder }
  }
}

/** The deployments of the admin service, which starts tool servers. */
export function adminDeployments(): Deployments {
  return deploymentsOf('admin', {
    denoAllow: ['--allow-run'],
    // Deno needs these to find programs and to start them.
    denoNames: [
      'OSTYPE',
      'PATHEXT',
      'HOME',
      'LOGNAME',
      'PATH',
      'SHELL',
      'TERM',
      'USER',
      'NODE_*',
      'NPM_*',
      'DENO_*',
      'LD_*',
    ],
  })
}

/** Deploys with a folder of its own, which is deleted with the server. */
function storedIn(start: Start, within?: string): Deploy {
  return async settings => {
    const folder = await newFolder(within)
    const runtime = await start(folder.path, settings)
    const stop = () => runtime.stop().then(folder.remove)
    return { ...runtime, folder: folder.path, stop }
  }
}
