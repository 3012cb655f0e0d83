/** Servers that have the same interfaces: requests a CPU-second of each, and ratios of two, round by round. */

import { median } from '../measure.ts'
import { IN_TURNS, PIECES } from './echo.ts'
import { installPeers } from './install.ts'
import { Server } from './server.ts'
import type { Peer } from './who.ts'

/** Of the server's CPU. */
const WINDOW_MS = 200
const ROUNDS = 15
const WARM_UP = 5

/** Requests a CPU-second of the server: JSON, streams, and streams with a turn of the event loop before each piece. */
const measures = {
  json: (server: Server) => server.runs(WINDOW_MS),
  streams: (server: Server) => server.streams(WINDOW_MS),
  inTurns: (server: Server) => server.streams(WINDOW_MS, IN_TURNS),
} as const

type Measure = keyof typeof measures

const NAMES = Object.keys(measures) as Measure[]

/** Whether the peer has what is measured. */
const has = ({ only }: Peer, name: Measure) => only === undefined || (only === 'runs') === (name === 'json')

type Taken = ReadonlyMap<Peer, Readonly<Record<Measure, number[]>>>

/** Measures all in turn, and writes both tables. */
export async function beside(
  peers: readonly Peer[],
  pairs: readonly (readonly [Peer, Peer])[],
): Promise<string> {
  installPeers()
  const servers: Server[] = []
  try {
    for (const each of peers) servers.push(await Server.open(each))
    for (let round = 0; round < WARM_UP; round++) await roundOf(servers)
    const taken: Taken = new Map(peers.map(each => [each, { json: [], streams: [], inTurns: [] }]))
    for (let round = 0; round < ROUNDS; round++) {
      console.error(`… round ${round + 1} of ${ROUNDS}`)
      await roundOf(round % 2 === 0 ? servers : servers.toReversed(), taken)
    }
    return `${rates(taken)}\n\n${ratios(taken, pairs)}`
  } finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** Measures each server by the same right after the other: what else the machine does is much the same for both. */
async function roundOf(servers: readonly Server[], taken?: Taken): Promise<void> {
  for (const name of NAMES) {
    for (const server of servers.filter(({ peer }) => has(peer, name))) {
      const { perCpuSecond } = await measures[name](server)
      taken?.get(server.peer)?.[name].push(perCpuSecond)
    }
  }
}

function spread(values: readonly number[], digits: number): string {
  if (values.length === 0) return '–'
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)]
  return `${middle.toFixed(digits)} (${least.toFixed(digits)}-${most.toFixed(digits)})`
}

function rates(taken: Taken): string {
  const perPiece = (streams: readonly number[]) => streams.map(perSecond => 1e6 / perSecond / PIECES)
  const rows = [...taken].map(([each, { json, streams, inTurns }]) => {
    const cells = [spread(json, 0), spread(streams, 0), spread(inTurns, 0), spread(perPiece(streams), 1)]
    return `| ${[each.name, ...cells, spread(perPiece(inTurns), 1)].join(' | ')} |`
  })
  return [
    '| server | JSON | streams | streams in turns | CPU of a piece, µs | in turns, µs |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function ratios(taken: Taken, pairs: readonly (readonly [Peer, Peer])[]): string {
  const rows = pairs.map(([ours, other]) => {
    const cells = NAMES.map(name => {
      const others = taken.get(other)![name]
      return spread(
        taken.get(ours)![name].map((value, round) => value / others[round]!),
        2,
      )
    })
    return `| ${[ours.name, other.name, ...cells].join(' | ')} |`
  })
  return ['| what | beside | JSON | streams | streams in turns |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}
