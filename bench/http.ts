/**
 * The cost of a run and of a streamed event compared with a hand-written handler: in one process, and over loopback on Node
 * and workerd. Run with `npm run bench`.
 */

import { gzipSync } from 'node:zlib'
import { type Runtime, startNode, startWorkerd } from '../test/runtimes/harness.ts'
import { bundleWorker } from '../test/runtimes/worker.ts'
import { type Comparison, compare, microseconds, table } from './measure.ts'
import { STREAM_EVENTS } from './servers/agents.ts'
import { bare, servable } from './servers/handlers.ts'

type Answer = (path: string) => Promise<Response>

const body = JSON.stringify({ input: 'What does a run cost beside a hand-written handler?' })
const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }

/** The headers that an HTTP server would pass on, with the length. */
const headers = { ...init.headers, 'content-length': String(Buffer.byteLength(body)) }
const inProcess =
  (handler: (request: Request) => Promise<Response>): Answer =>
  path =>
    handler(new Request(`http://127.0.0.1/api${path}`, { ...init, headers }))
const overLoopback =
  (server: Runtime): Answer =>
  path =>
    fetch(`${server.url}/api${path}`, init)

async function runOnce(answer: Answer): Promise<void> {
  await (await answer('/agents/echo/run')).text()
}

async function streamOnce(answer: Answer): Promise<void> {
  const reader = (await answer('/agents/many/stream')).body!.getReader()
  while (!(await reader.read()).done);
}

/** Microseconds of a JSON run, and of one event of a stream. */
const perRun = (answer: Answer, count: number) => () => microseconds(count, () => runOnce(answer))
const perEvent = (answer: Answer, count: number) => async () =>
  (await microseconds(count, () => streamOnce(answer))) / (STREAM_EVENTS + 1)

async function compareBoth(
  where: string,
  [ours, theirs]: [Answer, Answer],
  [runs, streams]: [number, number],
): Promise<Comparison[]> {
  const run = { measured: perRun(ours, runs), reference: perRun(theirs, runs) }
  const event = { measured: perEvent(ours, streams), reference: perEvent(theirs, streams) }
  return [
    await compare(`JSON run, ${where}`, 'µs', run),
    await compare(`streamed event, ${where}`, 'µs', event),
  ]
}

async function compareServers(
  where: string,
  start: (side: string) => Promise<Runtime>,
): Promise<Comparison[]> {
  const servers = [await start('servable'), await start('bare')] as const
  try {
    const answers: [Answer, Answer] = [overLoopback(servers[0]), overLoopback(servers[1])]
    return await compareBoth(where, answers, [400, 20])
  } finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

async function gzipped(entry: string): Promise<string> {
  const bundle = await bundleWorker(entry, { minify: true })
  return `${(gzipSync(bundle).byteLength / 1024).toFixed(1)} KiB`
}

const step = (text: string) => console.error(`… ${text}`)

step('in one process')
const comparisons = await compareBoth('in one process', [inProcess(servable), inProcess(bare)], [5000, 20])
step('over loopback on Node')
comparisons.push(
  ...(await compareServers('Node, loopback', side => startNode(`bench/servers/node-${side}.ts`))),
)
step('over loopback on workerd')
comparisons.push(
  ...(await compareServers('workerd, loopback', side => startWorkerd(`bench/servers/workerd-${side}.ts`))),
)
console.log(table(comparisons))
console.log(`\nWorker bundle, minified and gzipped: ${await gzipped('bench/servers/workerd-servable.ts')}`)
