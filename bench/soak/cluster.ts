/** Three server processes on one PostgreSQL database, behind nginx. Two of them are killed in turn, and started again. */

import { readFile } from 'node:fs/promises'
import { freePort, type Runtime, startNode } from '../../test/runtimes/harness.ts'
import { startNginx } from '../../test/runtimes/nginx.ts'
import { startPostgres } from '../../test/runtimes/postgres/server.ts'
import type { Client } from './clients.ts'
import type { Ledger } from './ledger.ts'
import { expectInterrupted, lostStream, lostTask, type Neighbour, startNeighbours } from './neighbour.ts'
import { type Fate, KINDS, LASTING, type Order, textOfOrder, writeOrder } from './orders.ts'
import {
  type Act,
  anyEnd,
  expect,
  expectWhole,
  Listener,
  oneOf,
  orderOf,
  PATIENCE_MS,
  patiently,
  post,
  REFUSED,
  sleep,
  upTo,
  Wrong,
} from './traffic.ts'

/** Milliseconds after which nginx sends the clients of a socket to its own process again, and some for those that were elsewhere. */
const UNSTUCK_MS = 15_000

/** Most runs of one act. */
const MAX_RUNS = 5

/** Those processes that are killed, and what became of the work that was there. */
export interface Cluster extends Neighbour {
  /** The addresses of all processes, without nginx. */
  readonly urls: readonly string[]
  /** Acts that a kill has cut off. */
  cutOff: number
  /** Acts that ended since the state was busy. */
  refused: number
  /** How often workflows went on in another process. */
  resumed: number
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
  const cluster: Cluster = Object.assign(neighbour, { urls, cutOff: 0, refused: 0, resumed: 0 })
  const stop = async () => {
    await nginx.stop()
    await Promise.all([server.stop(), neighbour.stop()])
    await database.stop()
  }
  return { ...server, url: nginx.url, stop, neighbour: cluster }
}

/** What no kill excuses. */
const NEVER = /lost|doubled|after the last|not the text|twice|without an end of|interrupted/

/** Whether an act that began then may fail: a process was killed meanwhile. */
function isExcused({ deadAt, backAt }: Neighbour, since: number, isSocket = false): boolean {
  return isSocket ? backAt + UNSTUCK_MS >= since : deadAt >= since
}

/** A client whose acts may be cut off by a kill, but give no wrong answer. */
export function surviving(cluster: Cluster, [who, acts]: Client): Client {
  if (who === 'followed') return [who, [keptRun(cluster)]]
  const isSocket = who === 'sockets'
  /** Counts what may have come of an act that has failed. Throws the failure if nothing excuses it. */
  const failed = (error: unknown, since: number, ledger: Ledger) => {
    const what = error instanceof Wrong ? error.what : ''
    if (what === REFUSED) cluster.refused++
    else if (NEVER.test(what) || !isExcused(cluster, since, isSocket)) throw error
    else cluster.cutOff++
    const kind = KINDS.find(each => each === who)
    if (kind !== undefined) ledger.doubt(kind, isSocket ? MAX_RUNS : 1)
  }
  const survivor =
    (act: Act): Act =>
    async (url, ledger) => {
      const since = performance.now()
      try {
        await act(url, ledger)
      } catch (error) {
        failed(error, since, ledger)
      }
    }
  return [who, acts.map(survivor)]
}

/** The clients of the cluster alone. */
export function clusterClients(cluster: Cluster): readonly Client[] {
  return [
    ['kept', [lastingRun(cluster)]],
    ['kept', [lastingRun(cluster)]],
    ['kept', [lostStream(cluster), lostTask(cluster)]],
    ['kept', [lostStream(cluster), lostTask(cluster)]],
  ]
}

/** The value of the work, which is done again if a kill has cut it off. */
async function again<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
  while (true) {
    const since = performance.now()
    try {
      return await patiently(work)
    } catch (error) {
      if (error instanceof Wrong || !isExcused(cluster, since)) throw error
      await sleep(100)
    }
  }
}

/** Rejects if nginx answers for a process that it has lost. */
function reached(response: Response): Response {
  if (response.status === 502) throw new Error('nginx answers 502')
  if (response.status === 503) throw new Wrong(REFUSED, 'with 503')
  return response
}

/** Starts a stored run with a key, so that asking again starts no other one. Gives its id. */
async function begun(cluster: Cluster, url: string, order: Order): Promise<string> {
  const headers = { prefer: 'respond-async', 'idempotency-key': crypto.randomUUID() }
  const text = await again(cluster, async () => {
    const response = reached(await post(url, { input: writeOrder(order) }, undefined, headers))
    const body = await response.text()
    expect(response.status === 202, 'not accepted', () => `${response.status} ${body}`)
    return body
  })
  return JSON.parse(text).id
}

/** Follows a run to its end, however often the connection is lost. */
async function followed(cluster: Cluster, at: string, listener: Listener, ledger: Ledger): Promise<void> {
  const until = performance.now() + 2 * PATIENCE_MS
  const follow = async () => {
    const leaving = new AbortController()
    const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(PATIENCE_MS)])
    const headers = { 'last-event-id': String(listener.lastId) }
    try {
      const response = reached(await fetch(`${at}/stream`, { headers, signal }))
      return await listener.read(response, { after: 1 + upTo(5000), now: () => leaving.abort() })
    } finally {
      leaving.abort()
    }
  }
  while (!(await again(cluster, follow))) {
    ledger.cuts++
    expect(
      performance.now() < until,
      'a stored run without an end of its own',
      () => `${at} ${listener.text}`,
    )
  }
}

/** A stored run that is followed through any process, and perhaps cancelled. It may be interrupted, but nothing of it is lost. */
const keptRun =
  (cluster: Cluster): Act =>
  async (url, ledger) => {
    const { era } = cluster
    const order = orderOf(oneOf<Fate>(anyEnd(), anyEnd(), 'wait'), 5 + upTo(60), oneOf(0, 1, 5, 20))
    const id = await begun(cluster, `${url}/api/agents/followed/run`, order)
    const at = `${url}/api/runs/${id}`
    const cancel = async () => {
      await sleep(upTo(100))
      return again(cluster, async () => reached(await post(`${at}/cancel`, {})).text())
    }
    const cancelled = order.fate === 'wait' ? cancel() : undefined
    // An earlier failure is reported in place of this one.
    cancelled?.catch(() => {})
    const listener = new Listener(ledger)
    await followed(cluster, at, listener, ledger)
    const said = await cancelled
    if (listener.ending?.code === 'interrupted') {
      ledger.doubt('followed', 1)
      return expectInterrupted(cluster, era, listener.text, order)
    }
    if (said !== undefined) expect(JSON.parse(said).status === 'cancelled', 'not cancelled', () => said)
    expectWhole(listener, order)
    ledger.note('followed', order)
  }

/** A workflow that goes on in another process, and always ends. */
const lastingRun =
  (cluster: Cluster): Act =>
  async (url, ledger) => {
    const order = orderOf('answer', 5 + upTo(20), 10 + upTo(100))
    const id = await begun(cluster, `${url}/api/workflows/${LASTING}/run`, order)
    const at = `${url}/api/runs/${id}`
    const listener = new Listener(ledger)
    await followed(cluster, at, listener, ledger)
    cluster.resumed += listener.resumed
    listener.expectEnd(order)
    const record = await again(cluster, async () => reached(await fetch(at)).text())
    expect(JSON.parse(record).result?.text === textOfOrder(order), 'not the text of a record', () => record)
  }

/** Runs and tasks that are still at work at the end, when no client is left. */
export async function stillRunning(url: string): Promise<string[]> {
  const response = await fetch(`${url}/api/runs?status=running`, { headers: { 'x-client': 'soak' } })
  const text = await response.text()
  const isNone = response.status === 200 && JSON.parse(text).runs.length === 0
  return isNone ? [] : [`runs that never ended: ${response.status} ${text.slice(0, 500)}`]
}

/** What became of the work of those that were killed, in words. */
export function clusterFate({ cutOff, refused, resumed }: Cluster, { uncertain }: Ledger): string {
  return (
    `Kills cut ${cutOff} acts off; ${refused} were refused since the state was busy; workflows went on in another process ${resumed} times. ` +
    `The metrics may lack ${uncertain.lost} runs, and may have ${uncertain.doubted} more.`
  )
}
