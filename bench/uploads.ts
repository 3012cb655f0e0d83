/**
 * Ten files of 50 MiB in one request: the time and the server's peak memory, compared with the runtime's own parser. On
 * workerd also sixteen uploads of 31 MB at once. Run with `npm run bench`, or only the second part with `node
 * bench/uploads.ts crowd`.
 */

import { readFile } from 'node:fs/promises'
import { type Runtime, startBun, startNode, startWorkerd } from '../test/runtimes/harness.ts'

const FILES = 10
const FILE_BYTES = 50 * 1024 * 1024

interface Measured {
  readonly seconds: number
  readonly peakMiB: number
}

/** Measures in a new process, since the peak of a process never falls. */
async function measure(start: () => Promise<Runtime>, path: string): Promise<Measured> {
  const server = await start()
  try {
    const form = new FormData()
    const content = new Blob([Buffer.alloc(FILE_BYTES, 1)])
    for (let index = 0; index < FILES; index++) form.append('files', new File([content], `${index}.bin`))
    const startedAt = performance.now()
    const response = await fetch(`${server.url}${path}`, { method: 'POST', body: form })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    const seconds = (performance.now() - startedAt) / 1000
    return { seconds, peakMiB: await peakOf(server) }
  } finally {
    await server.stop()
  }
}

/** Peak of resident memory in MiB. */
async function peakOf({ pid }: Runtime): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024
}

/** Concurrent uploads on workerd: memory before and at the peak, and the number of accepted uploads. */
async function crowd(count: number, bytes: number): Promise<string> {
  const server = await startWorkerd('bench/servers/workerd-uploads.ts')
  try {
    await (await fetch(server.url)).text()
    const before = await peakOf(server)
    const content = new Blob([Buffer.alloc(bytes, 1)])
    const send = async () => {
      const form = new FormData()
      form.append('files', new File([content], 'file.bin'))
      const response = await fetch(`${server.url}/api/agents/size/run`, { method: 'POST', body: form })
      await response.text()
      return response.status
    }
    const statuses = await Promise.all(Array.from({ length: count }, send))
    const taken = statuses.filter(status => status === 200).length
    const refused = statuses.filter(status => status === 429).length
    const peak = await peakOf(server)
    const size = `${bytes / 1e6} MB`
    return `| ${count} of ${size} | ${taken} | ${refused} | ${before.toFixed(0)} MiB | ${peak.toFixed(0)} MiB |`
  } finally {
    await server.stop()
  }
}

const ratio = (ours: number, theirs: number) => (ours / theirs).toFixed(2)

async function compareRuntimes(): Promise<void> {
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
}

if (process.argv[2] !== 'crowd') await compareRuntimes()
console.log('\nUploads at once on workerd, at the defaults\n')
console.log('| uploads | taken | refused (429) | resident before | at the most |')
console.log('|---|---|---|---|---|')
for (const [count, bytes] of [
  [1, 31e6],
  [16, 31e6],
  [16, 2e6],
] as const) {
  console.log(await crowd(count, bytes))
}
