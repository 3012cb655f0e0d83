/** Profiles the CPU time of a server: `node bench/peers/profile.ts servable runs|streams|turns [seconds]`. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IN_TURNS, INPUT } from './echo.ts'
import { INTERFACES } from './interfaces.ts'
import { OPENAI_PEERS } from './openai.ts'
import { Server } from './server.ts'
import { PEERS } from './who.ts'

const LINES = 45

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const [name = 'servable', what = 'runs', seconds = '5'] = process.argv.slice(2)
const peers = [...PEERS, ...OPENAI_PEERS, ...INTERFACES]
const peer = peers.find(each => each.name === name || each.entry.endsWith(`/${name}.ts`))
if (peer === undefined) throw new Error(`One of ${peers.map(each => each.name).join(', ')}`)

const folder = await mkdtemp(join(tmpdir(), 'servable-profile-'))
try {
  const server = await Server.open(peer, { flags: ['--cpu-prof', `--cpu-prof-dir=${folder}`] })
  const input = what === 'turns' ? IN_TURNS : INPUT
  const load = (ms: number) => (what === 'runs' ? server.runs(ms) : server.streams(ms, input))
  // This warms the code up. Its results are left out.
  await load(2000)
  const { perSecond, perCpuSecond } = await load(Number(seconds) * 1000)
  await server.stop()
  console.log(`${perSecond.toFixed(0)} a second, ${perCpuSecond.toFixed(0)} a CPU-second, while profiled`)
  console.log('µs of CPU a request, by module and by function:\n')
  const [file = ''] = await readdir(folder)
  print(JSON.parse(await readFile(join(folder, file), 'utf8')), 1e6 / perCpuSecond)
} finally {
  await rm(folder, { recursive: true, force: true })
}

function print({ nodes, samples, timeDeltas }: Profile, perRequest: number): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, number>()
  const places = new Map<string, number>()
  const all = timeDeltas.reduce((total, time) => total + time, 0)
  const from = all - Number(seconds) * 1e6
  let [at, sum] = [0, 0]
  const add = (map: Map<string, number>, key: string, time: number) =>
    map.set(key, (map.get(key) ?? 0) + time)
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!
    const time = timeDeltas[index]!
    at += time
    if (functionName === '(idle)' || at < from) continue
    sum += time
    const place = placeOf(url)
    add(functions, `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`, time)
    add(places, url === '' ? functionName : place, time)
  }
  for (const map of [places, functions]) {
    const sorted = [...map].sort(([, a], [, b]) => b - a).slice(0, LINES)
    for (const [key, time] of sorted)
      console.log(`${((time / sum) * perRequest).toFixed(1).padStart(6)}  ${key}`)
    console.log()
  }
}

function placeOf(url: string): string {
  return url.replace(/^file:\/\/.*\/(node_modules|src|bench)\//, '$1/')
}
