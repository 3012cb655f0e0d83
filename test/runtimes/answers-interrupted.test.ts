/**
 * A server that is killed at any moment of runs that work, ask and go on; its clients say the same again until it answers.
 *
 * @module-tag long
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { InputRequest } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { LONG } from '../tags.ts'
import { type Runtime, startNode } from './harness.ts'

/** How many runs are at work when the server is killed. */
const AT_ONCE = 20

/** How often a run is at work when the server is killed: at least, and at most until each end was met. */
const MOMENTS = 200
const MAX_MOMENTS = 2000

/** What the agent does, one after the other. */
const EFFECTS = 6

interface Answered {
  readonly code?: string
  readonly runId?: string
  readonly text?: string
  readonly requests?: readonly InputRequest[]
}

/** What became of a job. `lost`: its client does not know the run. */
type End = 'done' | 'interrupted' | 'lost'

/** Asks until there is an answer; undefined where the connection broke and it must not be asked again. */
async function insist(
  url: () => string,
  path: string,
  body: object,
  more: Insist,
): Promise<Answered | undefined> {
  while (true) {
    try {
      const response = await fetch(`${url()}/api/${path}`, jsonRequest(body, more.headers))
      return (await response.json()) as Answered
    } catch {
      if (more.isOnce) return undefined
      more.repeated()
      await pause(10)
    }
  }
}

interface Insist {
  readonly headers?: Record<string, string>
  readonly isOnce?: boolean
  /** Told when the same is asked again. */
  readonly repeated: () => void
}

/** Brings a job to its end. A stored run has a key, by which it is found again; a plain one is lost with its server. */
async function bring(job: string, isPlain: boolean, { url, repeated }: Bring): Promise<End> {
  const headers: Record<string, string> = isPlain ? {} : { 'idempotency-key': job }
  let now = await insist(url, 'agents/works/run', { input: job }, { headers, isOnce: isPlain, repeated })
  while (now?.requests !== undefined) {
    const [request] = now.requests
    const id = now.runId ?? ''
    const body = { answers: [{ id: request?.id, value: 1 }] }
    now = await insist(url, `runs/${id}/answers`, body, { repeated })
  }
  if (now === undefined) return 'lost'
  if (now.code !== undefined) {
    expect(now.code).toBe('interrupted')
    return 'interrupted'
  }
  expect(now.text).toBe(`2 done ${EFFECTS}`)
  return 'done'
}

interface Bring {
  readonly url: () => string
  readonly repeated: () => void
}

/** The effects of each job, in order. */
async function effectsIn(file: string): Promise<Map<string, number[]>> {
  const effects = new Map<string, number[]>()
  for (const line of (await readFile(file, 'utf8')).split('\n').filter(Boolean)) {
    const [job = '', number] = line.split(' ')
    effects.set(job, [...(effects.get(job) ?? []), Number(number)])
  }
  return effects
}

it('does nothing twice, and all of what came to its end', { ...LONG, timeout: 240_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'servable-answers-'))
  const file = join(folder, 'lines')
  const env = { DATABASE: join(folder, 'runs.db'), LINES: file }
  const start = () => startNode('test/runtimes/entries/answers-node.ts', { env })
  let runtime: Runtime = await start()
  let isOver = false
  let repeats = 0
  const url = () => runtime.url
  const repeated = () => void repeats++
  const ends = new Map<string, End>()
  const counted = () => {
    const counts = { done: 0, interrupted: 0, lost: 0 }
    for (const end of ends.values()) counts[end]++
    return [...Object.values(counts), repeats]
  }
  const client = async (number: number) => {
    for (let turn = 0; !isOver; turn++) {
      const job = `job-${number}-${turn}`
      ends.set(job, await bring(job, (number + turn) % 3 === 0, { url, repeated }))
    }
  }
  try {
    const clients = Array.from({ length: AT_ONCE }, (_, number) => client(number))
    const isMet = () => counted().every(count => count > 0)
    for (let moments = 0; moments < MOMENTS || (!isMet() && moments < MAX_MOMENTS); moments += AT_ONCE) {
      await pause(100 + Math.random() * 150)
      await runtime.kill()
      runtime = await start()
    }
    isOver = true
    await Promise.all(clients)
  } finally {
    isOver = true
    await runtime.stop()
  }
  const effects = await effectsIn(file)
  for (const [job, end] of ends) {
    const done = effects.get(job) ?? []
    // In order and each once: of what was interrupted, the beginning.
    expect([job, done]).toEqual([job, done.map((_, index) => index)])
    if (end === 'done') expect([job, done.length]).toEqual([job, EFFECTS])
  }
  // It was met at work, asked again and brought to its end.
  for (const count of counted()) expect(count).toBeGreaterThan(0)
  await rm(folder, { recursive: true, force: true })
})
