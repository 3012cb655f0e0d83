/**
 * Compares our server with others that serve the same agent: `node bench/peers/run.ts [rounds]`. The first run installs the
 * others' packages into this folder.
 */

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { median } from '../measure.ts'
import { PIECES } from './echo.ts'
import { installPeers } from './install.ts'
import { besideBare } from './runtimes.ts'
import { Server } from './server.ts'
import * as who from './who.ts'
import { type Start, startTimes } from './workers.ts'

/** Of the server's CPU. */
const WINDOW_MS = 200
const WARM_UP_MS = 3000
const FIRST_PIECES = 20

const folder = fileURLToPath(new URL('.', import.meta.url))
const rounds = Number(process.argv[2] ?? 9)
const step = (text: string) => console.error(`… ${text}`)

installPeers()

/** The measurements of a round. */
interface Round {
  readonly runs: number
  readonly runsCpu: number
  readonly streams: number
  readonly streamsCpu: number
  readonly firstMs: number
}

/** Measures each server by the same right after the other: what else the machine does is much the same for both. */
async function roundOf(servers: readonly Server[], ms = WINDOW_MS): Promise<Map<string, Round>> {
  const inTurn = async <T>(measure: (server: Server) => Promise<T>): Promise<T[]> => {
    const results: T[] = []
    for (const server of servers) results.push(await measure(server))
    return results
  }
  const runs = await inTurn(server => server.runs(ms))
  const streams = await inTurn(server => server.streams(ms))
  const firstMs = await inTurn(server => server.firstPiece(FIRST_PIECES))
  const rounds = servers.map(({ peer }, at): [string, Round] => [
    peer.name,
    {
      runs: runs[at]!.perSecond,
      runsCpu: runs[at]!.perCpuSecond,
      streams: streams[at]!.perSecond,
      streamsCpu: streams[at]!.perCpuSecond,
      firstMs: firstMs[at]!,
    },
  ])
  return new Map(rounds)
}

/** All rounds of each peer. A peer that does not start is left out, with a message. */
async function inTurn(): Promise<{ rounds: Map<string, Round[]>; bytes: Map<string, number> }> {
  const servers: Server[] = []
  for (const peer of who.PEERS) {
    const server = await Server.open(peer).catch(error => step(`left out: ${peer.name}: ${error.message}`))
    if (server) servers.push(server)
  }
  const taken = new Map<string, Round[]>(servers.map(({ peer }) => [peer.name, []]))
  const bytes = new Map<string, number>()
  try {
    await roundOf(servers, WARM_UP_MS)
    for (const server of servers) bytes.set(server.peer.name, await server.bytesPerPiece())
    for (let round = 0; round < rounds; round++) {
      step(`round ${round + 1} of ${rounds}`)
      const results = await roundOf(round % 2 === 0 ? servers : servers.toReversed())
      for (const [name, result] of results) taken.get(name)!.push(result)
    }
  } finally {
    await Promise.all(servers.map(server => server.stop()))
  }
  return { rounds: taken, bytes }
}

const { rounds: taken, bytes } = await inTurn()

function valuesOf({ name }: who.Peer, what: keyof Round): number[] {
  return (taken.get(name) ?? []).map(round => round[what])
}

/** The ratio of one peer to another, round by round. */
function ratio(peer: who.Peer, other: who.Peer, what: keyof Round): { middle: number; text: string } {
  const others = valuesOf(other, what)
  const ratios = valuesOf(peer, what)
    .map((value, round) => value / others[round]!)
    .sort((a, b) => a - b)
  const middle = median(ratios)
  return { middle, text: `${middle.toFixed(2)} (${ratios[0]?.toFixed(2)}-${ratios.at(-1)?.toFixed(2)})` }
}

const spread = (values: readonly number[], digits = 0) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)})`

function rowOf(peer: who.Peer): string {
  const microseconds = valuesOf(peer, 'streamsCpu').map(perSecond => 1e6 / perSecond / PIECES)
  const cells = [
    peer.name,
    spread(valuesOf(peer, 'runs')),
    spread(valuesOf(peer, 'runsCpu')),
    spread(valuesOf(peer, 'streams')),
    spread(valuesOf(peer, 'streamsCpu')),
    spread(microseconds, 1),
    bytes.get(peer.name)!.toFixed(0),
    spread(valuesOf(peer, 'firstMs'), 2),
  ]
  return `| ${cells.join(' | ')} |`
}

const present = who.PEERS.filter(({ name }) => taken.has(name))
console.log(
  [
    '| server | runs/s | runs/CPU-s | streams/s | streams/CPU-s | CPU of a piece, µs | bytes of a piece | first piece, ms |',
    '|---|---|---|---|---|---|---|---|',
    ...present.map(rowOf),
  ].join('\n'),
)

step('Workers: start-up')
const starts: Start[] = await startTimes()
console.log(
  [
    '',
    '| Worker | KiB gzip | start to first answer | its CPU | times the empty one, by CPU | spread |',
    '|---|---|---|---|---|---|',
    ...starts.map(
      ({ name, gzipped, ms, cpuMs, ratio: over, spread: [least, most] }) =>
        `| ${name} | ${(gzipped / 1024).toFixed(1)} | ${ms.toFixed(1)} ms | ${cpuMs.toFixed(1)} ms | ${over.toFixed(2)} | ${least.toFixed(2)}-${most.toFixed(2)} |`,
    ),
  ].join('\n'),
)

step('other runtimes: beside a bare handler')
const elsewhere = await besideBare(rounds)
const NAMES = { runs: 'JSON runs', streams: `streams of ${PIECES} pieces` } as const
const spreadOf = (ratios: readonly number[]) => spread(ratios, 2)
console.log(
  [
    '',
    '| runtime | what | servable, a CPU-second | bare | times bare, a CPU-second | times bare, a second |',
    '|---|---|---|---|---|---|',
    ...elsewhere.map(
      ({ runtime, kind, servable, bare, perSecond, perCpuSecond }) =>
        `| ${runtime} | ${NAMES[kind]} | ${servable.toFixed(0)} | ${bare.toFixed(0)} | ${spreadOf(perCpuSecond)} | ${spreadOf(perSecond)} |`,
    ),
  ].join('\n'),
)

interface Goal {
  readonly goal: string
  readonly is: string
  readonly holds: boolean
}

const { SERVABLE, BARE, BARE_FETCH, EXPRESS, MASTRA, VOLTAGENT, LANGGRAPH, OUR_A2A, A2A_SDK } = who
const kinds = [
  ['runs', 'JSON runs'],
  ['streams', 'streams'],
] as const

/** What is said of ours, where it is not the agent of ours alone. */
const nameOf = ({ name }: who.Peer) => (name.includes("'s ") ? `${name}: ` : '')

/** Goals for our requests a second and requests a CPU-second, relative to another peer. */
function atLeast(least: number, peer: who.Peer, other: who.Peer, measures: readonly ('' | 'Cpu')[]): Goal[] {
  if (!taken.has(other.name)) return []
  return kinds.flatMap(([kind, what]) =>
    measures.map(which => {
      const { middle, text } = ratio(peer, other, `${kind}${which}`)
      const unit = which === 'Cpu' ? 'a CPU-second' : 'a second'
      return {
        goal: `${nameOf(peer)}${what} ${unit}, ≥ ${least} × ${other.name}`,
        is: text,
        holds: middle >= least,
      }
    }),
  )
}

function atLeastIn(ratios: readonly number[], least: number): Pick<Goal, 'is' | 'holds'> {
  return { is: spreadOf(ratios), holds: median(ratios) >= least }
}

function firstWithin(ms: number): Goal {
  const bare = valuesOf(BARE, 'firstMs')
  const later = valuesOf(SERVABLE, 'firstMs').map((value, round) => value - bare[round]!)
  return {
    goal: `first piece within ${ms} ms of ${BARE.name}`,
    is: `${spread(later, 2)} ms later`,
    holds: median(later) <= ms,
  }
}

const goals: Goal[] = [
  ...atLeast(0.9, SERVABLE, BARE, ['', 'Cpu']),
  ...atLeast(0.9, SERVABLE, BARE_FETCH, ['', 'Cpu']),
  ...elsewhere.flatMap(({ runtime, kind, perSecond, perCpuSecond }) => [
    { goal: `${NAMES[kind]} a second, ≥ 0.9 × bare on ${runtime}`, ...atLeastIn(perSecond, 0.9) },
    { goal: `${NAMES[kind]} a CPU-second, ≥ 0.9 × bare on ${runtime}`, ...atLeastIn(perCpuSecond, 0.9) },
  ]),
  ...atLeast(0.9, SERVABLE, EXPRESS, ['', 'Cpu']),
  ...atLeast(5, SERVABLE, MASTRA, ['Cpu']),
  ...atLeast(5, SERVABLE, VOLTAGENT, ['Cpu']),
  ...atLeast(5, SERVABLE, LANGGRAPH, ['Cpu']),
  ...atLeast(1, who.OUR_MASTRA, MASTRA, ['Cpu']),
  ...atLeast(1, who.OUR_VOLTAGENT, VOLTAGENT, ['Cpu']),
  ...atLeast(1, who.OUR_LANGGRAPH, LANGGRAPH, ['Cpu']),
  ...atLeast(1, OUR_A2A, A2A_SDK, ['', 'Cpu']),
  firstWithin(1),
  ...starts.slice(1).map(({ name, ratio: over, spread: [least, most] }) => ({
    goal: `CPU of the start-up of ${name} ≤ 1.5 × an empty Worker`,
    is: `${over.toFixed(2)} (${least.toFixed(2)}-${most.toFixed(2)})`,
    holds: over <= 1.5,
  })),
]
console.log(
  [
    '',
    '| goal | is | |',
    '|---|---|---|',
    ...goals.map(({ goal, is, holds }) => `| ${goal} | ${is} | ${holds ? 'held' : '**missed**'} |`),
  ].join('\n'),
)

const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
const versions = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
console.log(
  `\n${cpus().length} × ${cpus()[0]?.model}, ${process.platform} ${process.arch}, Node ${process.versions.node}; ${versions.join(', ')}. ${rounds} rounds.`,
)
