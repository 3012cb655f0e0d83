/**
 * Deploys of three processes behind nginx over PostgreSQL, one after the other, with runs of a minute that move on. It needs a quiet
 * machine. `DEPLOYS` and `RATE` make it shorter, or the load greater.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createClient, type RunEvent } from '../../src/client/index.ts'
import { begin, cli } from '../contracts/command.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { fromSources, snippetOf } from '../pages/pages.ts'
import { freePort } from '../runtimes/harness.ts'
import { startNginx } from '../runtimes/nginx.ts'
import { startPostgres } from '../runtimes/postgres/server.ts'
import { root, type Started, start } from '../runtimes/process.ts'

const { describe, it } = needing('postgresql', 'nginx')

const DEPLOYS = Number(process.env.DEPLOYS ?? 20)
/** Runs of a minute that begin each second. Five times as many short ones do. */
const RATE = Number(process.env.RATE ?? 1)
/** Deploys begin this often: 20 in ten minutes. */
const DEPLOY_EVERY_MS = 30_000
/** The load before the first deploy. */
const QUIET_MS = 60_000
const STEPS = Array.from({ length: 12 }, (_, index) => index + 1)
const STEP_MS = 5000

/** `minute` tells of each step which deploy did it. What is done is a line of a file, too. */
const AGENTS = `
import { appendFileSync } from 'node:fs'
import { Agent, textOf, Workflow } from 'servable'

const { VERSION, DONE } = process.env

export const minute = new Workflow({
  name: 'minute',
  async *run(input, { step }) {
    for (const n of ${JSON.stringify(STEPS)}) {
      const by = yield* step('step ' + n, async () => {
        await new Promise(resolve => setTimeout(resolve, ${STEP_MS}))
        appendFileSync(DONE, textOf(input) + ' ' + n + '\\n')
        return VERSION
      })
      yield n + ':' + by + ' '
    }
  },
})

export const echo = new Agent({ name: 'echo', run: input => textOf(input) })
`

const CONFIG = `
import config from './containers-config.ts'
export default { ...config, runs: { maxRunning: 5000, maxRunningPerOwner: 5000 } }
`

const TOKEN = 'token-of-the-test'

interface Member {
  readonly port: number
  process: Started
}

describe('20 deploys in ten minutes', () => {
  it('lose no run, tell each event once, and let short requests through', {
    timeout: QUIET_MS + DEPLOYS * DEPLOY_EVERY_MS + 300_000,
  }, async () => {
    const database = await startPostgres()
    onTestFinished(database.stop)
    const folder = await project()
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const done = join(folder, 'done.txt')
    const env = { DATABASE_URL: database.url, API_TOKEN: TOKEN, DONE: done }
    const migrated = await begin(['store', 'migrate'], env, '', folder).ended
    expect(migrated.code, migrated.err).toBe(0)

    const serve = (port: number, version: number) =>
      start({
        command: process.execPath,
        args: [cli, 'start', '--port', String(port), '--grace', '3'],
        cwd: folder,
        env: { ...env, VERSION: String(version) },
        until: /"server.started"|listening|http:\/\/127/,
      })
    const members: Member[] = []
    for (const _ of Array(3)) {
      const port = await freePort()
      members.push({ port, process: await serve(port, 0) })
    }
    onTestFinished(async () => void (await Promise.all(members.map(member => member.process.stop()))))
    const hosts = members.map(({ port }) => `127.0.0.1:${port}`)
    const nginx = await startNginx(await readFile(join(root, 'deploy/nginx.conf'), 'utf8'), hosts)
    onTestFinished(nginx.stop)

    const baseUrl = `${nginx.url}/api`
    const client = createClient({ baseUrl, headers: { authorization: `Bearer ${TOKEN}` } })
    const minutes: Promise<Told>[] = []
    const shorts: Promise<Short>[] = []
    const plain: Promise<Short>[] = []
    let isDeploying = false
    const load = every(1000 / (RATE * 5), count => {
      if (count % 5 === 0) minutes.push(follow(client.workflow('minute').stream(`run${minutes.length}`)))
      const input = `short${count}`
      shorts.push(timed(isDeploying, async () => (await client.agent('echo').run(input)).text === input))
      plain.push(timed(isDeploying, async () => (await ask(baseUrl, input)) === input))
    })
    await wait(QUIET_MS)

    isDeploying = true
    for (let version = 1; version <= DEPLOYS; version++) {
      const next = wait(DEPLOY_EVERY_MS)
      for (const member of members) {
        await retire(member.process)
        member.process = await serve(member.port, version)
        await eventually(async () => {
          const health = await fetch(`http://127.0.0.1:${member.port}/api/health`)
          expect(health.status).toBe(200)
        })
      }
      await next
    }
    load.stop()

    const told = await Promise.all(minutes)
    const wrong = told.filter(({ steps, ends, error }) => error || ends !== 1 || `${steps}` !== `${STEPS}`)
    expect(wrong).toEqual([])
    const ids = new Set(told.map(({ runId }) => runId))
    expect(ids.size).toBe(told.length)
    // What is stored: no run that nobody began, and each completed.
    const { stored, unfinished } = await storedRuns(client)
    expect([stored, unfinished]).toEqual([told.length, []])
    const lines = (await readFile(done, 'utf8')).trim().split('\n')
    expect(new Set(lines).size).toBe(told.length * STEPS.length)
    const moved = told.filter(({ versions }) => versions.size > 1).length
    expect(moved).toBeGreaterThan(DEPLOYS)

    const answers = await Promise.all(shorts)
    const unanswered = answers.filter(({ isRight }) => !isRight)
    expect(unanswered).toEqual([])
    const refused = (await Promise.all(plain)).filter(({ isRight }) => !isRight)
    console.log(
      [
        `${DEPLOYS} deploys, ${told.length} runs of a minute: ${moved} moved on, 0 lost, 0 doubled;`,
        `${lines.length - new Set(lines).size} of ${lines.length} steps were done again.`,
        `A run took ${shown(told.map(({ ms }) => ms))}.`,
        `${answers.length} short stored runs, ${shown(answers.filter(each => each.isDeploying).map(({ ms }) => ms))};`,
        `before the deploys ${shown(answers.filter(each => !each.isDeploying).map(({ ms }) => ms))}.`,
        `${plain.length} plain runs that nobody tries again: ${refused.length} refused ${JSON.stringify(countBy(refused))}.`,
      ].join('\n'),
    )
  })
})

/** A folder that `servable start` serves, with the configuration of the page. */
async function project(): Promise<string> {
  const parent = join(root, 'test/.tmp')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'rolling-'))
  const files = {
    'agents.ts': AGENTS,
    'containers-config.ts': snippetOf('containers-config.ts'),
    'servable.config.ts': CONFIG,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), fromSources(text))
  return folder
}

/** Asks a process to end, as a platform does, and waits until it has. */
async function retire({ pid, log, stop }: Started): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await eventually(() => expect(log()).toMatch(/exited with code 0\n$/))
  await stop()
}

interface Told {
  readonly runId: string | undefined
  readonly steps: readonly number[]
  /** The deploys that did them. */
  readonly versions: ReadonlySet<string>
  readonly ends: number
  readonly ms: number
  readonly error?: string
}

/** What a page is told of a run, over cuts. Text before `resumed` is told again after it. */
async function follow(
  stream: AsyncIterable<RunEvent> & { readonly runId?: string | undefined },
): Promise<Told> {
  const begunAt = performance.now()
  let [text, ends, error] = ['', 0, '']
  try {
    for await (const event of stream) {
      if (event.type === 'resumed') text = ''
      if (event.type === 'text') text += event.text
      if (event.type === 'finish' && event.finishReason === 'stop') ends++
      if (event.type === 'error') error = event.error
    }
  } catch (thrown) {
    error = String(thrown)
  }
  const parts = text
    .trim()
    .split(' ')
    .map(part => part.split(':'))
  return {
    runId: stream.runId,
    steps: parts.map(([step]) => Number(step)),
    versions: new Set(parts.map(([, version = '']) => version)),
    ends,
    ms: performance.now() - begunAt,
    ...(error && { error }),
  }
}

interface Short {
  readonly isRight: boolean
  readonly isDeploying: boolean
  readonly ms: number
  readonly error?: string
}

async function timed(isDeploying: boolean, work: () => Promise<boolean>): Promise<Short> {
  const begunAt = performance.now()
  const outcome = await work().then(
    isRight => ({ isRight }),
    error => ({ isRight: false, error: String(error) }),
  )
  return { ...outcome, isDeploying, ms: performance.now() - begunAt }
}

/** A plain run, which nobody tries again. */
async function ask(baseUrl: string, input: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  const body = JSON.stringify({ input })
  const response = await fetch(`${baseUrl}/agents/echo/run`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(String(response.status))
  return (await response.json()).text
}

const countBy = (all: readonly Short[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(all, ({ error = 'wrong' }) => error)).map(([key, each]) => [
      key,
      each?.length,
    ]),
  )

/** Calls a function regularly, whatever becomes of what it begins. */
function every(ms: number, work: (count: number) => void): { stop(): void } {
  let count = 0
  const timer = setInterval(() => work(count++), ms)
  return { stop: () => clearInterval(timer) }
}

/** The runs of `minute` that the service has, and those that are not completed. */
async function storedRuns(client: ReturnType<typeof createClient>) {
  let stored = 0
  const unfinished: string[] = []
  for await (const { id, status } of client.runs.all({ kind: 'workflow', name: 'minute' })) {
    stored++
    if (status !== 'completed') unfinished.push(id)
  }
  return { stored, unfinished }
}

function shown(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`
}
