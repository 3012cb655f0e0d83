/**
 * Mixed traffic with faults against a server on Node, on Node with a neighbour, and on workerd: `node bench/soak.ts [minutes]
 * [node|neighbours|workerd|cluster] [pause]`. A hostile client sends malformed bodies, slow uploads, texts that patterns and Markdown take
 * long for, and upgrades of streams. It lets slow and broken receivers be notified of its tasks. With a neighbour there are two processes on one SQLite file, which fails at random, and one of them is killed
 * every minute. A cluster is three processes behind nginx on one PostgreSQL database, of which one is killed every minute. The exit
 * code is 1 if an event is lost or doubled, an answer is wrong, memory grows, or what the clients count differs from a counter of the
 * metrics, from a budget, or from what webhooks told.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Runtime, startNode, startWorkerd } from '../test/runtimes/harness.ts'
import { cpuOf, residentOf } from './process.ts'
import { type Client, clientsOf, watcherOf } from './soak/clients.ts'
import {
  type Cluster,
  clusterClients,
  clusterFate,
  startCluster,
  stillRunning,
  surviving,
} from './soak/cluster.ts'
import { hostileClients } from './soak/hostile.ts'
import { Ledger, type Spent } from './soak/ledger.ts'
import { floors, type Sample, secondHalf, slopeOf } from './soak/memory.ts'
import {
  againIn,
  fateOf,
  MAX_RUNS,
  type Neighbour,
  neighbourly,
  SHARED,
  sharing,
  startNeighbours,
  wrongWith,
} from './soak/neighbour.ts'
import { KINDS } from './soak/orders.ts'
import { type Hooks, type Receivers, startReceivers } from './soak/receivers.ts'
import { isReset, patiently, readMetrics, whatOf } from './soak/traffic.ts'

const PROGRESS_MS = 10_000
const SAMPLE_MS = 5000
/** Milliseconds for the metrics to settle: lost sockets time out, isolates hand over their counts, and webhooks are sent again. */
const SETTLE_MS = 45_000
/** A shorter test says nothing about memory. */
const MIN_MINUTES = 8

/** `pause` is the milliseconds between two acts of a client: more leave a busy machine some room. */
const [minutes = '15', only, pause = '10'] = process.argv.slice(2)
const durationMs = Number(minutes) * 60_000
// The amount of stored data settles after a quarter of the time.
const RETENTION_MS = String(Math.min(120_000, Math.round(durationMs / 4)))
const environment = (HOOK_URL: string) => ({ NODE_ENV: 'production', RETENTION_MS, HOOK_URL })

/** Requests of all clients but those of sockets. */
let requests = 0
const { fetch: ask } = globalThis
globalThis.fetch = (...asked) => {
  requests++
  return ask(...asked)
}

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

type Growth = ReturnType<typeof slopeOf> & { readonly first: number; readonly last: number }

interface Outcome {
  readonly name: string
  readonly ledger: Ledger
  readonly seconds: number
  readonly cpu: number
  /** Resident memory. */
  readonly memory: Growth
  /** Memory in use on and off the heap after a full collection, if the runtime tells it. */
  readonly heap: Growth | undefined
  /** The failed checks. */
  readonly wrong: readonly string[]
  readonly neighbour: Neighbour | undefined
  readonly hooks: Hooks
}

/** One client. It acts, rests, and acts again, until the time is over. */
async function keepBusy([who, acts]: Client, url: string, ledger: Ledger, until: number): Promise<void> {
  const failed = (error: unknown) => {
    if (!isReset(error))
      return ledger.fault(whatOf(error), error instanceof Error ? (error.stack ?? '') : String(error))
    ledger.resets++
    const kind = KINDS.find(each => each === who)
    if (kind !== undefined) ledger.doubt(kind, MAX_RUNS)
  }
  for (let turn = Math.floor(Math.random() * acts.length); performance.now() < until; turn++) {
    try {
      await acts[turn % acts.length]!(url, ledger)
    } catch (error) {
      failed(error)
      await sleep(100)
    }
    await sleep(Number(pause))
  }
}

/** Does work every `ms` until it is stopped, and then once more. */
function every(ms: number, work: () => Promise<void> | void): () => Promise<void> {
  let isOn = true
  const stopping = Promise.withResolvers<void>()
  const loop = (async () => {
    while (isOn) {
      await work()
      await Promise.race([sleep(ms), stopping.promise])
    }
    await work()
  })()
  return () => {
    isOn = false
    stopping.resolve()
    return loop
  }
}

/** How the budgets differ from the clients' count. */
async function misspentAt(url: string, ledger: Ledger): Promise<string[]> {
  const found = KINDS.map(async kind => {
    const response = await fetch(`${url}/api/budgets?agent=${kind}`)
    const { budgets } = (await response.json()) as { budgets: (Spent & { name: string })[] }
    return ledger.misspent(kind, budgets.find(({ name }) => name === 'kinds')!)
  })
  return (await Promise.all(found)).flat()
}

/** What differs from the clients' count in the metrics of any process, in the budgets, and in what webhooks told. */
async function differencesAtEnd(urls: readonly string[], ledger: Ledger, hooks: Hooks): Promise<string[]> {
  const until = performance.now() + SETTLE_MS
  for (;;) {
    const differences = [...ledger.untold(hooks), ...(await misspentAt(urls[0]!, ledger))]
    for (const url of urls) {
      const text = await readMetrics(url)
      ledger.scraped(text)
      differences.push(...ledger.differences(text))
    }
    if (differences.length === 0 || performance.now() > until) return differences
    await sleep(250)
  }
}

/** Lines that a healthy server never prints. */
const ALARMING = /unhandled|uncaught|rejection|exited with|MaxListeners|\bat \S+ \(.*:\d+:\d+\)/i

async function soak(name: string, server: Soaked, receivers: Receivers): Promise<Outcome> {
  const { url, neighbour } = server
  const cluster = neighbour !== undefined && 'urls' in neighbour ? (neighbour as Cluster) : undefined
  const urls = cluster?.urls ?? [url]
  const { pid } = server
  const ledger = new Ledger()
  const samples: Sample[] = []
  const heaps: Sample[] = []
  const startedAt = performance.now()
  const requestsBefore = requests
  const cpuBefore = await cpuOf(pid)
  const passed = () => (performance.now() - startedAt) / 60_000
  const stopSampling = every(SAMPLE_MS, async () => {
    // Only Node's entry has it.
    if (server.runtime === 'node') {
      const held = await (await fetch(`${urls[0]}/gc`)).text()
      heaps.push([passed(), Number(held) / 1024])
    }
    samples.push([passed(), await residentOf(pid)])
  })
  const stopTelling = every(PROGRESS_MS, () => tell(name, ledger, [samples, heaps], passed()))
  const until = startedAt + durationMs
  const { hooks } = receivers
  if (neighbour !== undefined) neighbour.onKill = () => ledger.killed(cluster ? KINDS : SHARED)
  const busy = crowdOf(name, receivers, neighbour, cluster)
  await Promise.all(busy.map(client => keepBusy(client, url, ledger, until)))
  await (cluster?.rest() ?? neighbour?.stop())
  ledger.requests = requests - requestsBefore
  await Promise.all([stopSampling(), stopTelling()])
  const seconds = passed() * 60
  const cpu = (await cpuOf(pid)) - cpuBefore
  const memory = growthOf(samples)
  const heap = heaps.length > 0 ? growthOf(heaps) : undefined
  const most = await maxSlope(server)
  const wrong = [
    ...(await differencesAtEnd(urls, ledger, hooks)),
    ...wrongDeliveries(hooks, neighbour),
    ...(name === 'node' ? [] : ledger.misticked()),
    ...(ledger.queued > 0 ? [] : ['no run has waited for a place']),
    ...(cluster === undefined ? [] : await stillRunning(url)),
    ...[...ledger.faults].map(([what, { count, first }]) => `${count} × ${what}: ${first}`),
    ...(neighbour === undefined ? [] : wrongWith(neighbour)),
    ...`${server.log()}\n${neighbour?.log() ?? ''}`
      .split('\n')
      .filter(line => ALARMING.test(line))
      .slice(0, 10)
      .map(line => `the server's log says: ${line}`),
    ...growing('what is resident', memory, most),
    ...(heap === undefined ? [] : growing('the heap', heap, most)),
  ]
  return { name, ledger, seconds, cpu, memory, heap, wrong, neighbour, hooks }
}

/** Deliveries that came again though they were answered, or were not signed. A process that is killed may not have noted the answer. */
function wrongDeliveries({ repeats, unanswered, unsigned }: Hooks, neighbour?: Neighbour): string[] {
  const isMore = neighbour === undefined && repeats > unanswered
  return [
    ...(isMore ? [`${repeats} webhooks came again, and ${unanswered} were not answered`] : []),
    ...(unsigned > 0 ? [`${unsigned} webhooks had no good signature`] : []),
  ]
}

/** All clients. */
function crowdOf(
  name: string,
  receivers: Receivers,
  neighbour?: Neighbour,
  cluster?: Cluster,
): readonly Client[] {
  const again = cluster ? againIn(cluster) : patiently
  const usual: readonly Client[] = [
    ...clientsOf(receivers, again),
    ...(name === 'node' ? [] : [watcherOf(again)]),
    ...hostileClients(receivers).map((acts): Client => ['hostile', acts]),
  ]
  if (cluster !== undefined) {
    return [...usual, ...clusterClients(cluster)].map(client => surviving(cluster, client))
  }
  return neighbour === undefined
    ? usual
    : [...usual, ...neighbourly(neighbour).map((acts): Client => ['kept', acts])].map(client =>
        sharing(neighbour, client),
      )
}

function growthOf(samples: readonly Sample[]): Growth {
  const half = floors(secondHalf(samples))
  return { ...slopeOf(half), first: half[0]?.[1] ?? 0, last: half.at(-1)?.[1] ?? 0 }
}

/**
 * Most growth of memory in the second half, in KiB a minute, beyond twice the error of the slope. workerd itself grows by
 * about two KiB for every Durable Object that ever existed, even if it only writes a row and deletes it.
 */
async function maxSlope({ countObjects }: Soaked): Promise<number> {
  if (countObjects === undefined) return 128
  const objects = await countObjects()
  console.error(`${objects} Durable Objects have existed`)
  return 512 + (2 * objects) / Number(minutes)
}

function growing(what: string, { slope, error }: Growth, most: number): string[] {
  if (Number(minutes) < MIN_MINUTES || slope - 2 * error <= most) return []
  return [`${what} grows by ${slope.toFixed(0)} KiB a minute (± ${(2 * error).toFixed(0)})`]
}

function growthCells(growth: Growth | undefined): string[] {
  if (growth === undefined) return ['', '']
  const mib = (kib: number) => (kib / 1024).toFixed(1)
  const { first, last, slope, error } = growth
  return [`${mib(first)} → ${mib(last)} MiB`, `${slope.toFixed(0)} ± ${(2 * error).toFixed(0)}`]
}

function tell(name: string, ledger: Ledger, sampled: readonly (readonly Sample[])[], at: number): void {
  const runs = KINDS.map(kind => `${kind} ${ledger.runsOf(kind)}`).join(', ')
  const mib = sampled.map(samples => ((samples.at(-1)?.[1] ?? 0) / 1024).toFixed(1)).join(', ')
  const faults = [...ledger.faults.values()].reduce((sum, { count }) => sum + count, 0)
  console.error(
    `${name} ${at.toFixed(2)} min: ${runs}; ${ledger.events} events, ${ledger.cuts} cuts, ${ledger.hostile} hostile, ${ledger.scrapes} scrapes, ${ledger.queued} queued, ${ledger.budgets} budgets, ${ledger.tellings} told, ${mib} MiB, ${faults} faults`,
  )
}

function row({ name, ledger, seconds, cpu, memory, heap, wrong }: Outcome): string {
  const runs = KINDS.map(kind => ledger.runsOf(kind))
  const all = runs.reduce((sum, count) => sum + count, 0)
  return [
    name,
    `${(seconds / 60).toFixed(1)} min`,
    String(all),
    runs.join(', '),
    String(ledger.events),
    String(ledger.cuts),
    String(ledger.hostile),
    `${((cpu / seconds) * 100).toFixed(0)} %`,
    ...growthCells(memory),
    ...growthCells(heap),
    String(wrong.length),
  ].join(' | ')
}

type Environment = ReturnType<typeof environment>

/** A server, perhaps with a neighbour. */
interface Soaked extends Runtime {
  readonly neighbour?: Neighbour
  /** How many Durable Objects have ever existed. */
  countObjects?(): Promise<number>
}

/** A folder in memory if the machine has one. A busy disk would dominate the result. */
async function newFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const path = await mkdtemp(join(parent, 'servable-soak-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Milliseconds that a neighbour lives. */
const NEIGHBOUR_MS = Math.min(60_000, durationMs / 6)

async function startWithNeighbour(env: Environment): Promise<Soaked> {
  const folder = await newFolder()
  const shared = { ...env, DATABASE: join(folder.path, 'soak.db') }
  const start = () => startNode('bench/servers/node-soak.ts', { env: shared })
  const server = await start()
  const neighbour = await startNeighbours([start], NEIGHBOUR_MS)
  const stop = async () => {
    await Promise.all([server.stop(), neighbour.stop()])
    await folder.remove()
  }
  return { ...server, stop, neighbour }
}

async function startOnWorkerd(env: Environment): Promise<Soaked> {
  const folder = await newFolder()
  const server = await startWorkerd('bench/servers/workerd-soak.ts', { env, storage: folder.path })
  const stop = () => server.stop().then(folder.remove)
  await fetch(`${server.url}/scheduled`)
  // The file of an object stays when its rows are deleted.
  const countObjects = async () =>
    (await readdir(folder.path, { recursive: true })).filter(name => name.endsWith('.sqlite')).length
  return { ...server, stop, countObjects }
}

const runtimes: readonly (readonly [name: string, start: (env: Environment) => Promise<Soaked>])[] = [
  ['node', env => startNode('bench/servers/node-soak.ts', { env })],
  ['neighbours', startWithNeighbour],
  ['workerd', startOnWorkerd],
  ['cluster', env => startCluster(env, NEIGHBOUR_MS)],
]

const outcomes: Outcome[] = []
for (const [name, start] of runtimes) {
  if (only !== undefined && only !== name) continue
  const receivers = await startReceivers()
  const server = await start(environment(receivers.hookUrl))
  try {
    outcomes.push(await soak(name, server, receivers))
  } finally {
    await server.stop()
    await receivers.stop()
  }
}
console.log(
  [
    `| server | time | runs | ${KINDS.join(', ')} | events | cuts | hostile | CPU | resident, second half | KiB a minute | heap, second half | KiB a minute | wrong |`,
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...outcomes.map(outcome => `| ${row(outcome)} |`),
  ].join('\n'),
)
for (const { neighbour, ledger, hooks } of outcomes) {
  console.log(
    `${ledger.requests} requests; ${ledger.queued} runs waited for a place; ${ledger.budgets} budgets were used up; ${ledger.ticks} ticks; webhooks told of ${hooks.told.size} runs, ` +
      `${ledger.tellings} of them known; ${hooks.refused} deliveries were refused, ${hooks.unanswered} not answered, ${hooks.repeats} came again. ` +
      `${ledger.resets} requests were reset; the metrics may lack ${ledger.uncertain.lost} runs, and may have ${ledger.uncertain.doubted} more.`,
  )
  if (neighbour === undefined) continue
  console.log(fateOf(neighbour))
  if ('cutOff' in neighbour) console.log(clusterFate(neighbour as Cluster))
}
for (const { name, wrong } of outcomes) for (const line of wrong) console.log(`${name}: ${line}`)
process.exitCode = outcomes.some(({ wrong }) => wrong.length > 0) ? 1 : 0
