/** Functions in AWS's own runtime client, against a small server of the runtime API that it asks. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import { type Answer, ask, jsonRequest, messagesOf, post } from '../contracts/http/client.ts'
import { accept, type Deployment, follow, get, own } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { needing } from '../needing.ts'
import { type Environment, startEnvironment } from '../runtimes/lambda/environment.ts'
import { type PostgresServer, startPostgres } from '../runtimes/postgres/server.ts'
import { root } from '../runtimes/process.ts'

let installed: Installed
let task: string
let gates: string
beforeAll(async () => {
  installed = await install('lambda', [])
  task = join(installed.folder, 'task')
  gates = await mkdtemp(join(installed.folder, 'gates-'))
  // As docs/run/deploy-lambda.md says.
  await build({
    absWorkingDir: root,
    entryPoints: ['test/runtimes/entries/lambda-function.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(task, 'index.mjs'),
  })
}, 1_200_000)
afterAll(() => installed?.remove())

interface Options {
  readonly handler?: string
  readonly limitMs?: number
  readonly database?: string
}

/** Starts an environment for a test. */
async function environment(
  { handler, limitMs, database }: Options = {},
  context: Pick<TestContext, 'onTestFinished'> = { onTestFinished },
): Promise<Environment> {
  const env = { GATES: gates, ...(database && { DATABASE: database }) }
  const client = join(installed.folder, 'node_modules/aws-lambda-ric/index.mjs')
  const started = await startEnvironment({
    client,
    task,
    env,
    ...(handler && { handler }),
    ...(limitMs && { limitMs }),
  })
  context.onTestFinished(() => started.stop())
  return started
}

const server = (of: Environment) => (): Deployment => ({ ...of, url: of.url, folder: undefined })
const open = (gate: string) => writeFile(join(gates, gate), '')
const codeOf = ({ status, text }: Answer) => [status, JSON.parse(text).code]

describe('a function that streams', () => {
  it('answers with JSON, also without a body, and says what is wrong', async () => {
    const one = server(await environment())
    const { status, headers, text } = await post(one, '/api/agents/echo/run', { input: 'hé 😀' })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(JSON.parse(text)).toMatchObject({ text: 'hé 😀', finishReason: 'stop' })
    expect(await ask(one, '/api/health', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    expect(codeOf(await post(one, '/api/agents/nobody/run', { input: 'x' }))).toEqual([
      404,
      'agent_not_found',
    ])
    expect(codeOf(await post(one, '/api/agents/echo/run', {}))).toEqual([400, 'invalid_body'])
    expect(codeOf(await ask(one, '/api/agents/echo/run?a=%zz', { method: 'DELETE' }))).toEqual([
      405,
      'method_not_allowed',
    ])
  })

  it('streams pieces as they come, also after it was stopped for a while', async () => {
    const one = await environment()
    const gate = own('gate')
    const response = await fetch(`${one.url}/api/agents/gated/stream`, jsonRequest({ input: gate }))
    const messages = messagesOf(response)
    expect((await messages.next()).value?.event).toEqual({ type: 'text', text: 'before ' })
    one.signal('SIGSTOP')
    await open(gate)
    one.signal('SIGCONT')
    const rest = []
    for await (const { event } of messages) rest.push(event)
    expect(rest).toEqual([
      { type: 'text', text: 'after' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('tells the failure of an agent, and survives one of the handler', async () => {
    const one = server(await environment())
    const { text } = await post(one, '/api/agents/fails/stream', { input: 'x' })
    expect(text).toMatch(/begun.*agent_failed/s)
    expect((await fetch(`${one().url}/throws`)).status).toBe(502)
    expect(one().log()).toContain('of the handler')
    expect((await ask(one, '/api/health')).status).toBe(200)
  })

  it('takes and gives large bodies', async () => {
    const one = server(await environment())
    const large = await post(one, '/api/agents/echo/run', { input: 'x'.repeat(900_000) })
    expect(JSON.parse(large.text).text).toHaveLength(900_000)
    expect(codeOf(await post(one, '/api/agents/echo/run', { input: 'x'.repeat(4_000_000) }))).toEqual([
      413,
      'body_too_large',
    ])
    const poured = await post(one, '/api/agents/pours/stream', { input: '12' })
    expect(Buffer.byteLength(poured.text)).toBeGreaterThan(12 * 1024 * 1024)
  })

  it('lasts until its runs in the background have ended', async context => {
    const one = await environment({ database: join(gates, `${own('runs')}.db`) }, context)
    const gate = own('gate')
    const { id } = await accept(server(one), 'agents/gated', { input: gate })
    expect(one.isFrozen).toBe(false)
    await open(gate)
    await eventually(() => expect(one.isFrozen).toBe(true))
    expect(await get(server(one), id)).toMatchObject({ status: 'completed' })
  })

  it('ends before its limit: a run is cancelled, and its process lives on', async context => {
    const one = await environment({ limitMs: 3000 }, context)
    const { text } = await post(server(one), '/api/agents/gated/stream', { input: own('never') })
    expect(text).toContain('before')
    await eventually(() => expect(one.isFrozen).toBe(true))
    expect((await ask(server(one), '/api/health')).status).toBe(200)
  })
})

describe('a function that does not stream', () => {
  it('answers whole', async () => {
    const one = server(await environment({ handler: 'index.buffered' }))
    const { text } = await post(one, '/api/agents/echo/run', { input: 'hé 😀' })
    expect(JSON.parse(text)).toMatchObject({ text: 'hé 😀' })
    const gate = own('gate')
    await open(gate)
    expect((await post(one, '/api/agents/gated/stream', { input: gate })).text).toMatch(
      /before.*after.*finish/s,
    )
  })
})

/** What a follower of a run reads, each event once. */
async function readOf(one: Environment, id: string) {
  const messages = await follow(server(one), id)
  expect(messages.map(message => Number(message.id))).toEqual(messages.map((_, index) => index + 1))
  return messages.map(({ event }) => event)
}

const chargedOf = (gate: string) => readFile(join(gates, `${gate}.charged`), 'utf8')

/** Starts a run that waits for its gate, and waits until the limit of its call has passed and its process is frozen. */
async function leave(one: Environment): Promise<{ readonly id: string; readonly gate: string }> {
  const gate = own('gate')
  const { id } = await accept(server(one), 'workflows/packs', { input: gate })
  await eventually(() => expect(one.isFrozen).toBe(true))
  expect(existsSync(join(gates, `${gate}.charged`))).toBe(true)
  return { id, gate }
}

describe('a stored run whose process is frozen', () => {
  it('goes on with the next call of its process, where no other may have it', async context => {
    const folder = join(gates, own('folder'))
    await mkdir(folder)
    const one = await environment({ limitMs: 3000, database: join(folder, 'runs.db') }, context)
    const { id, gate } = await leave(one)
    await open(gate)
    const events = await readOf(one, id)
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect(events.map(({ type }) => type)).not.toContain('resumed')
    expect(await chargedOf(gate)).toBe('x')
  })

  const { it: itWithPostgres } = needing('postgresql')
  let database: PostgresServer | undefined
  afterAll(() => database?.stop())

  itWithPostgres(
    'goes on in another process, once, and the first one finds that when it wakes',
    async context => {
      database = await startPostgres()
      const { url } = database
      const one = await environment({ limitMs: 3000, database: url }, context)
      const { id, gate } = await leave(one)
      const two = await environment({ database: url }, context)
      // Nothing is open for the run: any call may find that its process is gone, and lasts until the run has ended.
      await eventually(async () => {
        if (two.isFrozen) await ask(server(two), '/api/health')
        expect(two.log()).toContain('packs begins')
      }, 60_000)
      expect(two.isFrozen).toBe(false)
      await open(gate)
      await eventually(() => expect(two.isFrozen).toBe(true))
      expect(await get(server(two), id)).toMatchObject({ status: 'completed' })
      for (const each of [one, two, one]) {
        const events = await readOf(each, id)
        expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1)
        expect(events.filter(({ type }) => type === 'resumed')).toHaveLength(1)
      }
      expect(await chargedOf(gate)).toBe('x')
      // Both begin and end runs of their own after that.
      for (const each of [one, two]) {
        const { text } = await post(server(each), '/api/agents/echo/run', { input: 'on' })
        expect(JSON.parse(text)).toMatchObject({ text: 'on' })
      }
    },
  )
})
