/**
 * Ten files of 50 MiB in one request: how long it takes and how much memory the server has at the most, beside what the
 * runtime needs to read the same form. Run with `npm run bench`.
 */

import { readFile } from 'node:fs/promises'
import { type Runtime, startBun, startNode } from '../test/runtimes/harness.ts'

const FILES = 10
const FILE_BYTES = 50 * 1024 * 1024

interface Measured {
  readonly seconds: number
  readonly peakMiB: number
}

/** In a new process, since its peak never falls. */
async function measure(start: () => Promise<Runtime>, path: string): Promise<Measured> {
  const server = await start()
  try {
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    const form = new FormData()
    const content = new Blob([Buffer.alloc(FILE_BYTES, 1)])
    for (let index = 0; index < FILES; index++) form.append('files', new File([content], `${index}.bin`))
    const startedAt = performance.now()
    const response = await fetch(`${server.url}${path}`, { method: 'POST', body: form })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    const seconds = (performance.now() - startedAt) / 1000
    const status = await readFile(`/proc/${children.trim().split(' ')[0]}/status`, 'utf8')
    return { seconds, peakMiB: Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024 }
  } finally {
    await server.stop()
  }
}

const ratio = (ours: number, theirs: number) => (ours / theirs).toFixed(2)

console.log('\nTen files of 50 MiB in one request\n')
console.log('| runtime | time, a run to the form alone | peak memory, likewise | a run | the form alone |')
console.log('|---|---|---|---|---|')
for (const [name, start] of [
  ['Node', () => startNode('bench/servers/node-uploads.ts')],
  ['Bun', () => startBun('bench/servers/bun-uploads.ts')],
] as const) {
  console.error(`… ${name}`)
  const theirs = await measure(start, '/bare')
  const ours = await measure(start, '/api/agents/size/run')
  const show = ({ seconds, peakMiB }: Measured) => `${seconds.toFixed(1)} s, ${peakMiB.toFixed(0)} MiB`
  console.log(
    `| ${name} | ${ratio(ours.seconds, theirs.seconds)} | ${ratio(ours.peakMiB, theirs.peakMiB)} | ${show(ours)} | ${show(theirs)} |`,
  )
}
