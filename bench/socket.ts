/**
 * Compares the event socket with the stock server, and with a raw WebSocket on workerd: the server's CPU time for an echo,
 * and the memory of an idle connection. `npm run bench` runs everything. `node bench/socket.ts workerd` runs only the named
 * pairs: `node`, `bun`, `workerd`.
 */

import { WebSocket } from 'ws'
import { type Runtime, startBun, startNode, startWorkerd } from '../test/runtimes/harness.ts'
import { type Comparison, compare, table } from './measure.ts'
import { cpuOf, residentOf } from './process.ts'

const CONNECTIONS = 20
/** Events of a connection that wait for their answers at the same time. */
const WINDOW = 10
const ECHOES = 60_000

const IDLE = 2000
const BUSY = 50

const step = (text: string) => console.error(`… ${text}`)

const event = `42["echo",${JSON.stringify({ id: 12_345, text: 'x'.repeat(60), when: '2026-11-20T00:00:00Z' })}]`

/** A client whose frames are made in advance. */
class Client {
  readonly socket: WebSocket
  #left = 0
  #done: (() => void) | undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data, isBinary) => {
      const frame = data as Buffer
      // A ping of the server.
      if (!isBinary && frame.length === 1 && frame[0] === 50) socket.send('3')
      else this.#take(frame)
    })
    socket.on('close', () => {
      this.#done = () => {
        throw new Error('The connection was closed')
      }
    })
  }

  /** Connects, and joins the main namespace if the server has namespaces. */
  static async open(url: string, isRaw: boolean): Promise<Client> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
      perMessageDeflate: false,
    })
    const joined = new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      if (isRaw) return socket.once('open', () => resolve())
      const onMessage = (data: unknown) => {
        const text = String(data)
        if (text.startsWith('0')) socket.send('40')
        if (!text.startsWith('40')) return
        socket.off('message', onMessage)
        resolve()
      }
      return socket.on('message', onMessage)
    })
    await joined
    return new Client(socket)
  }

  /** Sends this many events, and waits until all have come back. */
  echo(count: number): Promise<void> {
    this.#left = count
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#done = resolve
    this.#unsent = count
    for (let i = 0; i < WINDOW; i++) this.#send()
    return promise
  }

  #unsent = 0

  #send(): void {
    if (this.#unsent === 0) return
    this.#unsent--
    this.socket.send(event)
  }

  #take(frame: Buffer): void {
    if (frame.length !== event.length) throw new Error(`Not the echo: ${frame}`)
    if (--this.#left === 0) this.#done?.()
    else this.#send()
  }
}

/** A server and its measurements. */
interface Side {
  readonly server: Runtime
  readonly pid: number
  readonly clients: readonly Client[]
}

async function open(start: () => Promise<Runtime>, count: number, isRaw = false): Promise<Side> {
  const server = await start()
  const { pid } = server
  const clients: Client[] = []
  while (clients.length < count) {
    const some = Math.min(100, count - clients.length)
    clients.push(...(await Promise.all(Array.from({ length: some }, () => Client.open(server.url, isRaw)))))
  }
  return { server, pid, clients }
}

async function close({ server, clients }: Side): Promise<void> {
  for (const { socket } of clients) socket.terminate()
  await server.stop()
}

/** Microseconds of the server's CPU for one echo. */
const cpuPerEcho =
  ({ pid, clients }: Side) =>
  async () => {
    const before = await cpuOf(pid)
    await Promise.all(clients.map(client => client.echo(ECHOES / clients.length)))
    return (((await cpuOf(pid)) - before) / ECHOES) * 1e6
  }

async function compareEchoes(
  where: string,
  ours: () => Promise<Runtime>,
  theirs: () => Promise<Runtime>,
  isRaw = false,
): Promise<Comparison> {
  step(`echoes, ${where}`)
  const sides = [await open(ours, CONNECTIONS), await open(theirs, CONNECTIONS, isRaw)] as const
  try {
    // Their time divided by ours, which is the ratio of echoes a CPU-second.
    return await compare(where, 'µs', {
      measured: cpuPerEcho(sides[1]),
      reference: cpuPerEcho(sides[0]),
    })
  } finally {
    await Promise.all(sides.map(close))
  }
}

const rest = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function resident({ server, pid }: Pick<Side, 'server' | 'pid'>): Promise<number> {
  await fetch(`${server.url}/gc`)
  await rest(1000)
  return residentOf(pid)
}

/** Kilobytes of an idle connection. At the end, each idle connection must answer an echo while others are busy. */
async function memoryOf(start: () => Promise<Runtime>): Promise<{ kilobytes: number; lost: number }> {
  const first = await open(start, 20)
  await Promise.all(first.clients.map(client => client.echo(100)))
  for (const { socket } of first.clients) socket.terminate()
  const before = await resident(first)
  const clients: Client[] = []
  while (clients.length < IDLE) {
    const opening = Array.from({ length: 100 }, () => Client.open(first.server.url, false))
    clients.push(...(await Promise.all(opening)))
  }
  const after = await resident(first)
  const busy = await Promise.all(Array.from({ length: BUSY }, () => Client.open(first.server.url, false)))
  await Promise.all([...busy.map(client => client.echo(1000)), ...clients.map(client => client.echo(1))])
  const lost = clients.filter(({ socket }) => socket.readyState !== WebSocket.OPEN).length
  await close({ ...first, clients: [...clients, ...busy] })
  return { kilobytes: (after - before) / IDLE, lost }
}

const onNode = (file: string) => () => startNode(`bench/servers/${file}.ts`, { env: PRODUCTION })
const onBun = (file: string) => () => startBun(`bench/servers/${file}.ts`, { env: PRODUCTION })
const onWorkerd = (file: string) => () =>
  startWorkerd(`bench/servers/${file}.ts`, { objects: { SOCKETS: 'SocketObject' } })
const PRODUCTION = { NODE_ENV: 'production' }

const pairs = {
  node: () => compareEchoes('Node, stock', onNode('node-socket-servable'), onNode('socket-stock')),
  bun: () => compareEchoes('Bun, stock', onBun('bun-socket-servable'), onBun('socket-stock')),
  workerd: () =>
    compareEchoes(
      'workerd, raw',
      onWorkerd('workerd-socket-servable'),
      onWorkerd('workerd-socket-raw'),
      true,
    ),
}
const idlePairs = [
  ['node', 'Node', onNode('node-socket-servable'), onNode('socket-stock')],
  ['bun', 'Bun', onBun('bun-socket-servable'), onBun('socket-stock')],
] as const

const named = process.argv.slice(2)
const unknown = named.find(name => !Object.hasOwn(pairs, name))
if (unknown !== undefined) throw new Error(`No such pair: ${unknown}`)
const isChosen = (name: string) => named.length === 0 || named.includes(name)

const echoes: Comparison[] = []
for (const [name, comparePair] of Object.entries(pairs)) if (isChosen(name)) echoes.push(await comparePair())
console.log(table(echoes, ['stock or raw', 'servable']))

const rows: string[] = []
for (const [name, label, ours, theirs] of idlePairs) {
  if (!isChosen(name)) continue
  step(`memory, ${label}`)
  const [own, stock] = [await memoryOf(ours), await memoryOf(theirs)]
  rows.push(
    `| ${label} | ${(own.kilobytes / stock.kilobytes).toFixed(2)} | ${own.kilobytes.toFixed(1)} KB | ${stock.kilobytes.toFixed(1)} KB | ${own.lost} |`,
  )
}
if (rows.length > 0)
  console.log(
    [
      '',
      '| idle connection | ratio | servable | stock | lost of 2,000 |',
      '|---|---|---|---|---|',
      ...rows,
    ].join('\n'),
  )
