/** Three server processes on one PostgreSQL database, behind nginx. Two of them are killed in turn, and started again. */

import { readFile } from 'node:fs/promises'
import { freePort, type Runtime, startNode } from '../../test/runtimes/harness.ts'
import { startNginx } from '../../test/runtimes/nginx.ts'
import { startPostgres } from '../../test/runtimes/postgres/server.ts'
import type { Client } from './clients.ts'
import {
  againIn,
  enduring,
  isExcused,
  keptRun,
  lostStream,
  lostTask,
  type Neighbour,
  startNeighbours,
} from './neighbour.ts'
import { lastingRun } from './stored.ts'

/** Milliseconds after which nginx sends the clients of a socket to its own process again, and some for those that were elsewhere. */
const UNSTUCK_MS = 15_000

/** Those processes that are killed, and what became of the work that was there. */
export interface Cluster extends Neighbour {
  /** The addresses of all processes, without nginx. */
  readonly urls: readonly string[]
  /** Acts that a kill has cut off. */
  cutOff: number
}

/** A server and those beside it. */
export interface Clustered extends Runtime {
  readonly neighbour: Cluster
}

const NGINX_CONFIG = new URL('../../examples/several-machines/nginx.conf', import.meta.url)

/** The configuration of the example, for three processes. The event socket has sticky sessions: each visit names itself. */
async function configOf(): Promise<string> {
  const example = await readFile(NGINX_CONFIG, 'utf8')
  const servers = ['one', 'two', 'three'].map(name => `  server ${name}:3000;`).join('\n')
  const location = /^ {2}location \/ \{[\s\S]*?^ {2}\}$/m.exec(example)?.[0] ?? ''
  const sockets = location
    .replace('location /', 'location /socket.io/')
    .replace('http://servable', 'http://sockets')
  return example
    .replace(/( {2}server \w+:3000;\n)+/, `${servers}\n`)
    .replace(location, `${location}\n${sockets}`)
    .replace(/^server \{/m, `upstream sockets {\n  hash $http_x_visit consistent;\n${servers}\n}\n\nserver {`)
}

/** Starts it. One process is never killed, so that its memory can be read. */
export async function startCluster(env: Record<string, string>, killEveryMs: number): Promise<Clustered> {
  const database = await startPostgres()
  const ports = [await freePort(), await freePort(), await freePort()]
  const [start, ...others] = ports.map(port => () => {
    const own = { ...env, DATABASE: database.url, PORT: String(port) }
    return startNode('bench/servers/node-soak.ts', { env: own })
  })
  const server = await start!()
  const neighbour = await startNeighbours(others, killEveryMs)
  const nginx = await startNginx(
    await configOf(),
    [...ports, ...ports].map(port => `127.0.0.1:${port}`),
  )
  const urls = ports.map(port => `http://127.0.0.1:${port}`)
  const cluster: Cluster = Object.assign(neighbour, { urls, cutOff: 0 })
  const stop = async () => {
    await nginx.stop()
    await Promise.all([server.stop(), neighbour.stop()])
    await database.stop()
  }
  return { ...server, url: nginx.url, stop, neighbour: cluster }
}

/** What no kill excuses. */
const NEVER = /lost|doubled|let in|may not|after the last|not the text|twice|without an end of|interrupted/

/** A client whose acts may be cut off by a kill, but give no wrong answer. */
export function surviving(cluster: Cluster, client: Client): Client {
  const [who] = client
  if (who === 'followed') return [who, [keptRun(cluster)]]
  return enduring(cluster, client, (what, since) => {
    const { backAt } = cluster
    const isOver = who === 'sockets' ? backAt + UNSTUCK_MS < since : !isExcused(cluster, since)
    if (NEVER.test(what) || isOver) return false
    cluster.cutOff++
    return true
  })
}

/** The clients of the cluster alone. */
export function clusterClients(cluster: Cluster): readonly Client[] {
  const lasting = lastingRun(againIn(cluster), { fate: cluster })
  return [
    ['kept', [lasting]],
    ['kept', [lasting]],
    ['kept', [lostStream(cluster), lostTask(cluster)]],
    ['kept', [lostStream(cluster), lostTask(cluster)]],
  ]
}

/** Runs and tasks that are still at work at the end, when no client is left. */
export async function stillRunning(url: string): Promise<string[]> {
  const response = await fetch(`${url}/api/runs?status=running`, { headers: { 'x-client': 'soak' } })
  const text = await response.text()
  const isNone = response.status === 200 && JSON.parse(text).runs.length === 0
  return isNone ? [] : [`runs that never ended: ${response.status} ${text.slice(0, 500)}`]
}

/** What became of the work of those that were killed, in words. */
export function clusterFate({ cutOff }: Cluster): string {
  return `Kills cut ${cutOff} acts off.`
}
