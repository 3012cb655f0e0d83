/** Processes that share a schema in PostgreSQL. */
import process from 'node:process'
import type { TestContext } from 'vitest'
import { accept, type Fields, own, type Server } from '../../contracts/runs/client.ts'
import { type Runtime, startBun, startDeno, startNode } from '../harness.ts'
import type { Neighbour } from '../neighbours.ts'

const ENTRY = 'test/runtimes/entries/neighbours-server.ts'

/** Starts a process with environment variables. */
export type Start = (env: Record<string, string>) => Promise<Runtime>

export const START_NODE: Start = env => startNode(ENTRY, { env })
/** A handler without the server's life, as functions have it. */
export const START_FUNCTION: Start = env => startNode('test/runtimes/entries/function-node.ts', { env })
export const START_BUN: Start = env => startBun(ENTRY, { env })
/** The database's client reads variables of PostgreSQL. */
export const START_DENO: Start = env => startDeno(ENTRY, { env, names: [...NAMES, 'PG*'] })

/** Those that `neighbours-server.ts` reads. */
const NAMES = ['SCHEMA', 'LISTEN', 'MAX', 'PREPARE', 'SSL', 'MIGRATE', 'CLOSES']

/** A process of a cluster. */
export interface Member extends Neighbour {
  /** What it has printed so far. */
  log(): string
  stop(): Promise<void>
}

export interface ClusterOptions {
  readonly url: string
  /** Whether processes listen. Default: they do. */
  readonly isHeard?: boolean
  readonly env?: Record<string, string>
}

/** Starts one more process of a cluster. */
export type Enter = (own?: Record<string, string>, start?: Start) => Promise<Member>

let schemas = 0

/** Processes that share a new schema. They are stopped after the test. */
export function cluster(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { isHeard = true, url, env = {} }: ClusterOptions,
): Enter & { readonly schema: string } {
  const schema = `cluster_${++schemas}`
  const shared = { DATABASE: url, SCHEMA: schema, MAX: '4', ...(isHeard && { LISTEN: url }), ...env }
  const enter: Enter = async (own = {}, start = START_NODE) => {
    const runtime = await start({ ...shared, ...own })
    onTestFinished(() => runtime.stop())
    const pid = Number(/pid (\d+)/.exec(runtime.log())?.[1])
    return {
      server: () => ({ ...runtime, folder: '' }),
      kill: runtime.kill,
      signal: signal => void process.kill(pid, signal),
      log: runtime.log,
      stop: runtime.stop,
    }
  }
  return Object.assign(enter, { schema })
}

/** Starts a run that does not end by itself. */
export const endless = (server: Server, owner: Fields) =>
  accept(server, 'agents/gated', { input: own('never') }, owner)
