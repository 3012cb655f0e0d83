/**
 * Compares A2A with the reference SDK's express server: requests a second, and the time to the first event of a stream. Run
 * with `npm run bench`.
 */

import { type Runtime, startNode, startWorkerd } from '../test/runtimes/harness.ts'
import { Connection } from './connection.ts'
import { type Comparison, compare, microseconds, table } from './measure.ts'

const CONNECTIONS = 8
const PAUSE_MS = 30
/** Requests before the measurement, so that the servers' code is compiled. */
const WARM_UP = 2000

const input = 'What does a task cost here, word by word, beside the server of the SDK?'

const longInput = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ')

/** A kind of request: its name, and its bytes for a server. */
interface Ask {
  readonly name: string
  /** Requests of a round. */
  readonly count: number
  readonly isStream: boolean
  request(url: string): string
}

function ask(method: string, version: string, message: object, count = 1000): Ask {
  const params = { message: { messageId: 'message-1', ...message } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const head = (url: string) => [
    'POST / HTTP/1.1',
    `host: ${new URL(url).host}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `a2a-version: ${version}`,
  ]
  const request = (url: string) => `${head(url).join('\r\n')}\r\n\r\n${body}`
  return { name: `\`${method}\` (${version})`, count, isStream: /stream/i.test(method), request }
}

const old = { kind: 'message', role: 'user', parts: [{ kind: 'text', text: input }] }
const now = { role: 'ROLE_USER', parts: [{ text: input }] }
const asks = [
  ask('message/send', '0.3', old),
  ask('message/stream', '0.3', old),
  ask('SendMessage', '1.0', now),
  ask('SendStreamingMessage', '1.0', now),
]

/** A long answer, with the same methods. */
const long = { role: 'ROLE_USER', parts: [{ text: longInput }] }
const longAsks = ['SendMessage', 'SendStreamingMessage'].map(method => {
  const one = ask(method, '1.0', long, 40)
  return { ...one, name: `${one.name}, 200 words` }
})

const step = (text: string) => console.error(`… ${text}`)

const onNode =
  (side: 'servable' | 'sdk', env: Record<string, string> = {}) =>
  () =>
    startNode(`bench/servers/node-a2a-${side}.ts`, { env: { NODE_ENV: 'production', ...env } })
const onWorkerd = () => startWorkerd('bench/servers/workerd-a2a.ts')

/** A new server, which has stored nothing yet. */
interface Side {
  readonly server: Runtime
  readonly request: string
}

async function open(start: () => Promise<Runtime>, { request, count }: Ask): Promise<Side> {
  const server = await start()
  const side = { server, request: request(server.url) }
  await perRequest(Math.min(WARM_UP, 2 * count))(side)
  return side
}

/** Compares the first with the second. */
async function inTurn(
  one: Ask,
  starts: readonly [() => Promise<Runtime>, () => Promise<Runtime>],
  measure: (side: Side) => Promise<number>,
): Promise<Comparison> {
  const sides = [await open(starts[0], one), await open(starts[1], one)] as const
  const timed = (side: Side) => () => measure(side)
  try {
    return await compare(one.name, 'µs', { measured: timed(sides[0]), reference: timed(sides[1]) })
  } finally {
    await Promise.all(sides.map(({ server }) => server.stop()))
  }
}

/** Opens connections for one measurement. Older connections would be closed, since they are idle during the other side's turn. */
async function connected<T>(
  { server }: Side,
  count: number,
  work: (connections: readonly Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(server.url)))
  try {
    return await work(connections)
  } finally {
    for (const connection of connections) connection.close()
  }
}

async function askOnce(connection: Connection, request: string): Promise<number> {
  const { text, firstEventMs } = await connection.send(request)
  if (!/"(completed|TASK_STATE_COMPLETED)"/.test(text)) throw new Error(`Not a completed task: ${text}`)
  return firstEventMs
}

/** Microseconds between two answers, with all connections busy. */
const perRequest = (count: number) => (side: Side) =>
  connected(side, CONNECTIONS, async connections => {
    let left = count
    const work = async (connection: Connection) => {
      while (left-- > 0) await askOnce(connection, side.request)
    }
    return (await microseconds(1, () => Promise.all(connections.map(work)))) / count
  })

/** Microseconds to the first event of a stream, on one idle connection. */
const toFirstEvent = (count: number) => (side: Side) =>
  connected(side, 1, async ([connection]) => {
    let sum = 0
    for (let i = 0; i < count; i++) sum += await askOnce(connection!, side.request)
    return (sum / count) * 1000
  })

/** One method, compared with the SDK, and on workerd compared with Node. */
interface Row {
  readonly ours: Comparison
  readonly workerd: Comparison
}

async function compareRates(): Promise<Row[]> {
  const rows: Row[] = []
  for (const one of [...asks, ...longAsks]) {
    step(one.name)
    // The SDK's time divided by ours, which is the ratio of requests a second.
    const ours = await inTurn(one, [onNode('sdk'), onNode('servable')], perRequest(one.count))
    const workerd = await inTurn(one, [onWorkerd, onNode('servable')], perRequest(one.count / 4))
    rows.push({ ours, workerd })
  }
  return rows
}

function rates(rows: readonly Row[]): string {
  const rate = (time: number) => Math.round(1e6 / time).toString()
  const lines = rows.map(({ ours, workerd }) =>
    [
      ours.name,
      ours.ratio.toFixed(2),
      ours.spread.map(ratio => ratio.toFixed(2)).join('-'),
      rate(ours.reference),
      rate(ours.measured),
      rate(workerd.measured),
    ].join(' | '),
  )
  const head = '| requests a second | times the SDK | spread | servable | SDK | servable, workerd |'
  return [head, '|---|---|---|---|---|---|', ...lines.map(line => `| ${line} |`)].join('\n')
}

step('requests a second')
console.log(rates(await compareRates()))

step('time to the first event')
const streams = asks.filter(({ isStream }) => isStream)
const firsts: Comparison[] = []
for (const one of streams) {
  const sides = [onNode('servable'), onNode('sdk')] as const
  firsts.push(await inTurn(one, sides, toFirstEvent(200)))
}
const pause = { PAUSE_MS: String(PAUSE_MS) }
const slow = [onNode('servable', pause), onNode('sdk', pause)] as const
const silent = await inTurn(streams[1]!, slow, toFirstEvent(50))
firsts.push({ ...silent, name: `${silent.name}, first word after ${PAUSE_MS} ms` })
console.log(`\n${table(firsts, ['servable', 'SDK'])}`)
