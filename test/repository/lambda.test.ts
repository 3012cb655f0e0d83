/** Functions of Lambda. `test/wide/lambda.test.ts` calls them with AWS's own runtime client. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../src/base/wake.ts'
import { schedules } from '../../src/features/schedules/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  memoryState,
  type RunRecord,
} from '../../src/index.ts'
import type { HttpEvent } from '../../src/runtimes/lambda/event.ts'
import { type LambdaOptions, lambda } from '../../src/runtimes/lambda.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { eventually } from '../eventually.ts'
import { AnswerStream, awslambda, gathered } from '../runtimes/lambda/awslambda.ts'

const HOUR = { getRemainingTimeInMillis: () => 3_600_000 }
/** The last second begins 150 ms from now. */
const SHORT = { getRemainingTimeInMillis: () => 200 }

const event = (method: string, rawPath: string, body?: object, fields: object = {}): HttpEvent => ({
  rawPath,
  rawQueryString: '',
  headers: { host: 'a.example', 'content-type': 'application/json', ...fields },
  requestContext: { domainName: 'a.lambda-url.eu-north-1.on.aws', http: { method, sourceIp: '192.0.2.7' } },
  ...(body && { body: JSON.stringify(body) }),
})

const run = (name: string, way: string, fields?: object) =>
  event('POST', `/api/agents/${name}/${way}`, { input: 'x' }, fields)

const ASYNC = { prefer: 'respond-async' }

/** Agents, and what they were told. */
function agents() {
  const gate = deferred<void>()
  const stopped = vi.fn()
  const agent = (name: string, body: Agent['run']) => new Agent({ name, register: false, run: body as never })
  return {
    open: gate.resolve,
    stopped,
    agents: {
      echo: agent('echo', () => 'x' as never),
      endless: new Agent({
        name: 'endless',
        register: false,
        async *run(_, { signal }) {
          signal.addEventListener('abort', stopped)
          yield 'begun'
          await new Promise(resolve => signal.addEventListener('abort', resolve))
        },
      }),
      gated: new Agent({
        name: 'gated',
        register: false,
        async *run() {
          yield 'before '
          await gate.promise
          yield 'after'
        },
      }),
    },
  }
}

/** A function over a SQLite file, and what it logged. */
async function onSqlite(options: HandlerOptions, how?: LambdaOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'servable-lambda-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const log: LogEntry[] = []
  const state = sqliteState({ path: join(folder, 'runs.db') })
  const logger = (entry: LogEntry) => void log.push(entry)
  return { answer: lambda(createHandler({ registry: false, ...options, state, logger }), how), log }
}

/** The head and the body of what was written. */
function read(pieces: readonly Buffer[]) {
  const all = Buffer.concat(pieces)
  const at = all.indexOf(Buffer.alloc(8))
  return { head: JSON.parse(all.toString('utf8', 0, at)), text: all.toString('utf8', at + 8) }
}

beforeEach(() => void vi.stubGlobal('awslambda', awslambda))
afterEach(() => void vi.unstubAllGlobals())

describe('a call that streams', () => {
  it('writes the head before the first piece, and pieces as they come', async () => {
    const { agents: served, open } = agents()
    const answer = lambda(createHandler({ agents: served, registry: false }))
    const { to, pieces, inner } = gathered()
    const called = answer(run('gated', 'stream'), to, HOUR)
    await eventually(() => expect(read(pieces).text).toContain('before'))
    expect(read(pieces).text).not.toContain('after')
    expect(read(pieces).head).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': 'text/event-stream' },
    })
    open()
    await called
    expect(read(pieces).text).toMatch(/after.*finish/s)
    expect(inner.writableFinished).toBe(true)
  })

  it.each(['HEAD', 'GET'])('has a head where there is no body: %s', async method => {
    const answer = lambda(async () => new Response(null, { status: 404, headers: { 'x-a': 'b' } }))
    const { to, pieces } = gathered()
    await answer(event(method, '/'), to, HOUR)
    expect(read(pieces)).toEqual({
      head: { statusCode: 404, headers: { 'x-a': 'b' }, cookies: [] },
      text: '',
    })
  })

  it('tells the handler the address of the client', async () => {
    const seen = vi.fn()
    const answer = lambda(
      createHandler({
        registry: false,
        middleware: [
          (_, context) => {
            seen(context.ip)
            return new Response('x')
          },
        ],
      }),
    )
    await answer(event('GET', '/api/health'), gathered().to, HOUR)
    expect(seen).toHaveBeenCalledWith('192.0.2.7')
  })

  it('answers a request that cannot be made', async () => {
    const answer = lambda(createHandler({ registry: false }))
    for (const [sent, status, code] of [
      [event('TRACE', '/'), 405, 'method_not_allowed'],
      [event('GET', '/', undefined, { 'x y': 'z' }), 400, 'invalid_header'],
      [event('GET', '/', undefined, { 'x-a': 'b\nc' }), 400, 'invalid_header'],
    ] as const) {
      const { to, pieces } = gathered()
      await answer(sent, to, HOUR)
      const { head, text } = read(pieces)
      expect([head.statusCode, JSON.parse(text).code]).toEqual([status, code])
    }
  })

  it('writes no faster than Lambda takes it', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1000))
        if (++pulled === 100) controller.close()
      },
    })
    const waiting: (() => void)[] = []
    const inner = new Writable({
      highWaterMark: 2000,
      write: (_piece, _encoding, done) => void waiting.push(done),
    })
    const called = lambda(async () => new Response(body))(event('GET', '/'), new AnswerStream(inner), HOUR)
    await eventually(() => expect(inner.writableNeedDrain).toBe(true))
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
    expect(pulled).toBeLessThan(10)
    const timer = setInterval(() => waiting.shift()?.())
    await called
    clearInterval(timer)
    expect(pulled).toBe(100)
  })

  it('lasts until its runs in the background have ended, which its client does not wait for', async () => {
    const { agents: served, open } = agents()
    const { answer } = await onSqlite({ agents: served })
    const { to, pieces, inner } = gathered()
    const over = vi.fn()
    const called = answer(run('gated', 'run', ASYNC), to, HOUR).then(over)
    await eventually(() => expect(inner.writableFinished).toBe(true))
    const { head, text } = read(pieces)
    expect(head.statusCode).toBe(202)
    const { id } = JSON.parse(text) as RunRecord
    const look = async () => {
      const looked = gathered()
      void answer(event('GET', `/api/runs/${id}`), looked.to, SHORT)
      await eventually(() => expect(looked.inner.writableFinished).toBe(true))
      return JSON.parse(read(looked.pieces).text).status
    }
    expect(await look()).toBe('running')
    expect(over).not.toHaveBeenCalled()
    open()
    await called
    expect(await look()).toBe('completed')
  })

  it('lasts until what `waitUntil` was given has settled, also if that fails', async () => {
    const gate = deferred<void>()
    const answer = lambda(
      createHandler({
        registry: false,
        middleware: [
          (_, context) => {
            context.waitUntil(gate.promise)
            context.waitUntil(Promise.reject(new Error('broken')))
            return new Response('x')
          },
        ],
      }),
    )
    const { to, inner } = gathered()
    const over = vi.fn()
    const called = answer(event('GET', '/'), to, HOUR).then(over)
    await eventually(() => expect(inner.writableFinished).toBe(true))
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
    expect(over).not.toHaveBeenCalled()
    gate.resolve()
    await called
  })

  it('ends before the limit of the function: its run is cancelled, and work after it is left', async () => {
    const { agents: served, stopped } = agents()
    const { answer } = await onSqlite({ agents: served, runs: { store: 'asked' } })
    const { to, inner } = gathered()
    await answer(run('endless', 'stream'), to, SHORT)
    await eventually(() => expect(inner.writableFinished).toBe(true))
    expect(stopped).toHaveBeenCalledOnce()
    const background = gathered()
    await answer(run('gated', 'run', ASYNC), background.to, SHORT)
    expect(read(background.pieces).head.statusCode).toBe(202)
  })

  it('cancels its run where Lambda takes no more of the answer', async () => {
    const { agents: served, stopped } = agents()
    const answer = lambda(createHandler({ agents: served, registry: false }))
    const { to, pieces, inner } = gathered()
    const called = answer(run('endless', 'stream'), to, HOUR)
    await eventually(() => expect(read(pieces).text).toContain('begun'))
    inner.destroy(new Error('the runtime is gone'))
    await called
    await eventually(() => expect(stopped).toHaveBeenCalledOnce())
  })

  it('fails where its body fails midway, so that nobody takes what came for the whole', async () => {
    const body = new ReadableStream({
      start: controller => controller.enqueue(new Uint8Array([65])),
      pull: controller => controller.error(new Error('the file is gone')),
    })
    const { to, pieces, inner } = gathered()
    const called = lambda(async () => new Response(body))(event('GET', '/'), to, HOUR)
    await expect(called).rejects.toThrow('the file is gone')
    expect([read(pieces).text, inner.writableEnded]).toEqual(['A', false])
  })

  it('stores no run in memory, which the next call may not find', async () => {
    const answer = lambda(createHandler({ agents: agents().agents, registry: false, state: memoryState() }))
    const { to, pieces } = gathered()
    await answer(run('echo', 'run', ASYNC), to, HOUR)
    const { head, text } = read(pieces)
    expect([head.statusCode, JSON.parse(text).code]).toEqual([400, 'runs_not_stored'])
  })

  it.each([
    { ...event('GET', '/'), requestContext: { elb: {}, http: { method: 'GET' } } },
    { httpMethod: 'GET', path: '/', requestContext: { elb: {} } },
    {
      ...event('GET', '/'),
      requestContext: { domainName: 'a.execute-api.eu-north-1.amazonaws.com', http: { method: 'GET' } },
    },
  ])('says what to do for a sender that takes no stream', async sent => {
    const answer = lambda(createHandler({ registry: false }))
    await expect(answer(sent, gathered().to, HOUR)).rejects.toThrow('{ streams: false }')
  })
})

describe('a call that does not stream', () => {
  it('answers a REST API', async () => {
    const { agents: served } = agents()
    const answer = lambda(createHandler({ agents: served, registry: false }), { streams: false })
    const sent = {
      httpMethod: 'POST',
      path: '/api/agents/echo/run',
      multiValueHeaders: { Host: ['a.example'], 'Content-Type': ['application/json'] },
      body: '{"input":"x"}',
      requestContext: { identity: { sourceIp: '192.0.2.7' } },
    }
    const result = (await answer(sent, HOUR)) as Record<string, unknown>
    expect(result).toMatchObject({
      statusCode: 200,
      isBase64Encoded: false,
      multiValueHeaders: { 'content-type': ['application/json'] },
    })
    expect(JSON.parse(String(result.body))).toMatchObject({ text: 'x' })
  })

  it('answers an HTTP API, with bytes in base64', async () => {
    const bytes = new Uint8Array([0xff, 0, 1])
    const answer = lambda(async () => new Response(bytes), { streams: false })
    expect(await answer(event('GET', '/'), HOUR)).toEqual({
      statusCode: 200,
      headers: {},
      cookies: [],
      body: '/wAB',
      isBase64Encoded: true,
    })
  })

  it('is the default where the runtime cannot stream', async () => {
    vi.stubGlobal('awslambda', undefined)
    expect(await lambda(async () => new Response('x'))(event('GET', '/'), HOUR)).toMatchObject({ body: 'x' })
  })

  it('says so of an answer that is too large', async () => {
    const answer = lambda(async () => new Response('x'.repeat(4_500_001)), { streams: false })
    const { statusCode, body } = (await answer(event('GET', '/'), HOUR)) as Record<string, string>
    expect([statusCode, JSON.parse(body ?? '').code]).toEqual([400, 'unsupported_operation'])
  })

  it('ends with its answer, and warns once of runs that are frozen then', async () => {
    const { agents: served, open } = agents()
    const { answer, log } = await onSqlite({ agents: served }, { streams: false })
    for (let calls = 0; calls < 2; calls++)
      expect(await answer(run('gated', 'run', ASYNC), HOUR)).toMatchObject({ statusCode: 202 })
    const warned = log.filter(entry => entry.event === 'lambda.frozen')
    expect(warned).toMatchObject([{ level: 'warn', message: expect.stringContaining('Stream the answers') }])
    open()
  })

  it('gives what there is of an endless answer before the limit of the function', async () => {
    const { agents: served, stopped } = agents()
    const answer = lambda(createHandler({ agents: served, registry: false }), { streams: false })
    const { body } = (await answer(run('endless', 'stream'), SHORT)) as { body: string }
    expect(body).toContain('begun')
    expect(stopped).toHaveBeenCalledOnce()
  })
})

describe('lambda', () => {
  it.each([
    [{ stream: true }, '`stream` is not an option: use `streams`'],
    [{ streams: 'yes' }, '`streams` must be true or false'],
  ])('says what is wrong with its options: %j', (options, says) => {
    expect(() => lambda(createHandler({ registry: false }), options as never)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(says) }),
    )
  })

  it('refuses what a frozen process cannot do', async () => {
    const socket = createHandler({ registry: false, gateway: true })
    expect(() => lambda(socket)).toThrow('the event socket needs connections that outlive a call')
    const clock = onSqlite({ plugins: [schedules([])] })
    await expect(clock).rejects.toThrow('`schedules` needs a server that runs for long')
  })

  it('needs the runtime of Lambda to stream', () => {
    vi.stubGlobal('awslambda', undefined)
    expect(() => lambda(async () => new Response('x'), { streams: true })).toThrow('the global `awslambda`')
  })
})
