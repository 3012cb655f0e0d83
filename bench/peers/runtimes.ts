/** Other runtimes than Node: our handler compared with a bare one, each on the runtime's own server. */

import { type Runtime, startBun, startDeno, startWorkerd } from '../../test/runtimes/harness.ts'
import { median } from '../measure.ts'
import { Server } from './server.ts'
import { SERVABLE } from './who.ts'

/** Of the server's CPU. */
const WINDOW_MS = 200
const WARM_UP_MS = 3000

const RUNTIMES: Readonly<Record<string, (side: 'servable' | 'bare') => Promise<Runtime>>> = {
  workerd: side => startWorkerd(`bench/peers/workers/${side}.ts`),
  Bun: side => startBun(`bench/peers/servers/bun-${side}.ts`),
  Deno: side => startDeno(`bench/peers/servers/deno-${side}.ts`),
}

const KINDS = ['runs', 'streams'] as const

/** Our results and the bare handler's on one runtime, for `runs` or `streams`. */
export interface Beside {
  readonly runtime: string
  readonly kind: (typeof KINDS)[number]
  /** Our rate divided by the bare one's, round by round: a second, and a CPU-second of the server. */
  readonly perSecond: readonly number[]
  readonly perCpuSecond: readonly number[]
  /** Medians of each one's rate a CPU-second. */
  readonly servable: number
  readonly bare: number
}

/** Measures both in turn on each runtime. */
export async function besideBare(rounds: number): Promise<Beside[]> {
  const all: Beside[] = []
  for (const [runtime, start] of Object.entries(RUNTIMES)) {
    // Both give the same answers, so one peer describes both.
    const ours = await Server.of(SERVABLE, await start('servable'))
    const bare = await Server.of(SERVABLE, await start('bare'))
    try {
      for (const kind of KINDS) all.push(await inTurn(runtime, kind, [ours, bare], rounds))
    } finally {
      await Promise.all([ours.stop(), bare.stop()])
    }
  }
  return all
}

async function inTurn(
  runtime: string,
  kind: Beside['kind'],
  servers: readonly [ours: Server, bare: Server],
  rounds: number,
): Promise<Beside> {
  for (const server of servers) await server[kind](WARM_UP_MS)
  const pairs: (readonly [Rates, Rates])[] = []
  for (let round = 0; round < rounds; round++) {
    const first = await servers[round % 2]![kind](WINDOW_MS)
    const second = await servers[(round + 1) % 2]![kind](WINDOW_MS)
    pairs.push(round % 2 === 0 ? [first, second] : [second, first])
  }
  const ratios = (which: keyof Rates) =>
    pairs.map(([our, their]) => our[which] / their[which]).sort((a, b) => a - b)
  return {
    runtime,
    kind,
    perSecond: ratios('perSecond'),
    perCpuSecond: ratios('perCpuSecond'),
    servable: median(pairs.map(([our]) => our.perCpuSecond)),
    bare: median(pairs.map(([, their]) => their.perCpuSecond)),
  }
}

type Rates = Awaited<ReturnType<Server['runs']>>
