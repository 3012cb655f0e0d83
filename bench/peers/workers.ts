/** Workers, minified as in a deploy: their size, and the time and CPU from spawning workerd to the first answer. */

import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import { bundleWorker, writeWorker } from '../../test/runtimes/worker.ts'
import { median } from '../measure.ts'

const STARTS = 21

const WORKERS = [
  ['an empty Worker', 'bench/peers/workers/empty.ts'],
  ['the core', 'bench/worker/plain-core.ts'],
  ['the core, Durable Objects', 'bench/worker/core-objects.ts'],
  ['`createHandler` of `servable`', 'bench/worker/core.ts'],
  ['every built-in part', 'bench/worker/index.ts'],
] as const

const workerd: string = createRequire(import.meta.url)('workerd').default

/** Milliseconds from spawning workerd to the end of its first answer: of the clock, and of CPU. */
interface Once {
  readonly ms: number
  readonly cpuMs: number
}

async function startOnce(configPath: string): Promise<Once> {
  const startedAt = performance.now()
  const child = spawn(workerd, ['serve', configPath, '--control-fd=1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const gone = new Promise(resolve => child.once('close', resolve))
  try {
    const port = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.once('close', () => reject(new Error(`workerd ended: ${text}`)))
      child.stdout.setEncoding('utf8').on('data', chunk => {
        text += chunk
        const [, found] = /"socket":"http","port":(\d+)/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    await (await fetch(`http://127.0.0.1:${port}/api/health`)).text()
    const ms = performance.now() - startedAt
    return { ms, cpuMs: await cpuMsOf(child.pid) }
  } finally {
    child.kill('SIGKILL')
    await gone
  }
}

/** CPU of a process, finer than the kernel's ticks. Linux alone has it. */
async function cpuMsOf(pid: number | undefined): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const all = await Promise.all(tasks.map(task => readFile(`/proc/${pid}/task/${task}/schedstat`, 'utf8')))
  return all.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6
}

/** One row for each Worker. */
export interface Start {
  readonly name: string
  readonly gzipped: number
  readonly ms: number
  readonly cpuMs: number
  /** Its CPU divided by the empty Worker's, start by start. */
  readonly ratio: number
  readonly spread: readonly [number, number]
}

export async function startTimes(starts = STARTS): Promise<Start[]> {
  const written = await Promise.all(WORKERS.map(([, entry]) => writeWorker(entry, { minify: true })))
  const times: Once[][] = WORKERS.map(() => [])
  try {
    for (const { configPath } of written) await startOnce(configPath)
    for (let turn = 0; turn < starts; turn++) {
      for (const [index, { configPath }] of written.entries()) times[index]!.push(await startOnce(configPath))
    }
  } finally {
    await Promise.all(written.map(({ remove }) => remove()))
  }
  return Promise.all(
    WORKERS.map(async ([name, entry], index) => {
      const ratios = times[index]!.map(({ cpuMs }, turn) => cpuMs / times[0]![turn]!.cpuMs).sort(
        (a, b) => a - b,
      )
      const code = await bundleWorker(entry, { minify: true })
      return {
        name,
        gzipped: gzipSync(code, { level: 9 }).byteLength,
        ms: median(times[index]!.map(({ ms }) => ms)),
        cpuMs: median(times[index]!.map(({ cpuMs }) => cpuMs)),
        ratio: median(ratios),
        spread: [ratios[0]!, ratios.at(-1)!] as const,
      }
    }),
  )
}
