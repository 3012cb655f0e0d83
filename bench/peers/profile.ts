/** Where the CPU of a server goes: `node bench/peers/profile.ts servable runs|streams [seconds]`. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
const peer = PEERS.find(each => each.name === name || each.entry.endsWith(`/${name}.ts`))
if (peer === undefined) throw new Error(`One of ${PEERS.map(each => each.name).join(', ')}`)

const folder = await mkdtemp(join(tmpdir(), 'servable-profile-'))
try {
  const server = await Server.open(peer, ['--cpu-prof', `--cpu-prof-dir=${folder}`])
  const { perSecond, perCpuSecond } = await (what === 'runs'
    ? server.runs(Number(seconds) * 1000)
    : server.streams(Number(seconds) * 1000))
  await server.stop()
  console.log(`${perSecond.toFixed(0)} a second, ${perCpuSecond.toFixed(0)} a CPU-second, while profiled\n`)
  const [file = ''] = await readdir(folder)
  print(JSON.parse(await readFile(join(folder, file), 'utf8')))
} finally {
  await rm(folder, { recursive: true, force: true })
}

function print({ nodes, samples, timeDeltas }: Profile): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, number>()
  const places = new Map<string, number>()
  let sum = 0
  const add = (map: Map<string, number>, key: string, time: number) =>
    map.set(key, (map.get(key) ?? 0) + time)
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!
    if (functionName === '(idle)') continue
    const time = timeDeltas[index]!
    sum += time
    const place = placeOf(url)
    add(functions, `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`, time)
    add(places, url === '' ? functionName : place, time)
  }
  for (const map of [places, functions]) {
    const sorted = [...map].sort(([, a], [, b]) => b - a).slice(0, LINES)
    for (const [key, time] of sorted) console.log(`${((time / sum) * 100).toFixed(1).padStart(5)} %  ${key}`)
    console.log()
  }
}

function placeOf(url: string): string {
  return url.replace(/^file:\/\/.*\/(node_modules|src|bench)\//, '$1/')
}
