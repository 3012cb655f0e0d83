/** Attaching at the limits: other processes, other origins, many turns, slow pages, ends at any moment, and edited arguments. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Agent, createHandler, type HandlerOptions, memoryState, textOf } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { handlerOn } from '../../contracts/ag-ui/service.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'
import { AttachedAgent } from './attached.ts'

const ORIGIN = 'http://ag-ui.test'

type Serve = (request: Request) => Response | Promise<Response>
type Run = ConstructorParameters<typeof Agent>[0]['run']

function clientOf(handler: Serve, name: string, threadId = 'thread') {
  return new AttachedAgent({
    url: `${ORIGIN}/api/agents/${name}/ag-ui`,
    threadId,
    headers: { 'x-test-user': 'ann' },
    fetch: async (url: string, init: RequestInit) => handler(new Request(url, init)),
  } as never)
}

const serve = (run: Run, more: HandlerOptions = {}) =>
  createHandler({
    serve: [new Agent({ name: 'one', register: false, run })],
    registry: false,
    state: memoryState(),
    middleware: [identify],
    runs: { disconnect: 'continue' },
    plugins: [agUi()],
    logger: false,
    ...more,
  })

const attach = async (handler: Serve, threadId = 'thread', headers: Record<string, string> = {}) =>
  handler(
    new Request(`${ORIGIN}/api/agents/one/ag-ui?threadId=${threadId}`, {
      headers: { 'x-test-user': 'ann', ...headers },
    }),
  )

const begin = async (handler: Serve, input: string, sessionId = 'thread') => {
  const init = jsonRequest(
    { input, sessionId, background: true },
    { 'x-test-user': 'ann', prefer: 'respond-async' },
  )
  const response = await handler(new Request(`${ORIGIN}/api/agents/one/run`, init))
  expect(response.status).toBe(202)
  return (await response.json()).id as string
}

it('has the arguments that were edited with the approval', async () => {
  const handler = handlerOn(memoryState(), undefined, { logger: false })
  const first = clientOf(handler, 'pays')
  first.addMessage({ id: 'm', role: 'user', content: '5' })
  await first.runAgent()
  const [{ id: interruptId = '' } = {}] = first.pendingInterrupts
  const payload = { approved: true, editedArgs: { amount: 61 } }
  await first.runAgent({ resume: [{ interruptId, status: 'resolved', payload }] })
  const second = clientOf(handler, 'pays')
  await second.connectAgent()
  expect(JSON.stringify(second.messages)).toContain('{\\"amount\\":61}')
  expect(second.messages).toEqual(first.messages)
})

it('has of a run whose events nothing stores its text, or what is open', async () => {
  const handler = handlerOn(memoryState(), undefined, { logger: false, runs: { store: 'asked' } })
  const contents: unknown[] = []
  for (const name of ['talks', 'pays']) {
    const first = clientOf(handler, name)
    first.addMessage({ id: 'm', role: 'user', content: '5' })
    await first.runAgent()
    const second = clientOf(handler, name)
    await second.connectAgent()
    contents.push(second.messages.map(({ content }) => content))
    expect(second.pendingInterrupts).toEqual(first.pendingInterrupts)
  }
  expect(contents).toEqual([['5', 'You said 5. It is 3.'], ['5']])
})

it('reads a run of another process over one file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'attach-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const gate = Promise.withResolvers<void>()
  const talk: Run = async function* () {
    yield 'One '
    await gate.promise
    yield 'two.'
  }
  const [one, other] = [1, 2].map(() => serve(talk, { state: sqliteState({ path: join(folder, 'a.db') }) }))
  const first = clientOf(one!, 'one')
  first.addMessage({ id: 'm', role: 'user', content: 'x' })
  const running = first.runAgent()
  await eventually(() => expect(first.messages.at(-1)?.content).toBe('One '))
  const second = clientOf(other!, 'one')
  const attached = second.connectAgent()
  await eventually(() => expect(second.messages).toEqual(first.messages))
  gate.resolve()
  await Promise.all([running, attached])
  expect(second.messages.at(-1)?.content).toBe('One two.')
  expect(second.messages).toEqual(first.messages)
})

it('loses no end, whenever the run ends', async () => {
  let ticks = 0
  const handler = serve(async function* () {
    yield 'One '
    for (let tick = 0; tick < ticks; tick++) await undefined
    yield 'two.'
  })
  for (ticks = 0; ticks < 100; ticks++) {
    const thread = `t${ticks}`
    await begin(handler, 'x', thread)
    const text = await (await attach(handler, thread)).text()
    const told = text.match(/One |two\./g) ?? []
    expect(told.join('')).toBe('One two.')
    expect(text.match(/"RUN_FINISHED"/g)).toHaveLength(1)
  }
})

it('has the newest of a thousand turns, and 1,000 messages at most', async () => {
  const handler = serve(input => `re ${textOf(input)}`)
  for (let turn = 1; turn <= 1000; turn++) {
    const init = jsonRequest({ input: `${turn}`, sessionId: 'thread' }, { 'x-test-user': 'ann' })
    await (await handler(new Request(`${ORIGIN}/api/agents/one/run`, init))).text()
  }
  const client = clientOf(handler, 'one')
  await client.connectAgent()
  expect(client.messages.length).toBeLessThanOrEqual(1000)
  expect(client.messages.slice(-2).map(({ content }) => content)).toEqual(['1000', 're 1000'])
}, 60_000)

it('answers an unknown thread with an empty stream', async () => {
  const response = await attach(
    serve(() => 'x'),
    'unknown',
  )
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/event-stream',
    '',
  ])
})

it('lets pages of other origins attach, and read on', async () => {
  const page = 'https://page.test'
  const handler = serve(() => 'x', { cors: [page] })
  await begin(handler, 'x')
  const asked = await handler(
    new Request(`${ORIGIN}/api/agents/one/ag-ui?threadId=thread`, {
      method: 'OPTIONS',
      headers: {
        origin: page,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'last-event-id',
      },
    }),
  )
  expect(asked.headers.get('access-control-allow-methods')).toContain('GET')
  expect(asked.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('last-event-id')
  const response = await attach(handler, 'thread', { origin: page })
  expect(response.headers.get('access-control-allow-origin')).toBe(page)
  expect(await response.text()).toContain('RUN_FINISHED')
  const other = await attach(handler, 'thread', { origin: 'https://other.test' })
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
})

it('holds little for a page that reads nothing, and then gives it all', async () => {
  const gate = Promise.withResolvers<void>()
  const handler = serve(async function* () {
    yield 'begun '
    await gate.promise
    for (let count = 0; count < 4000; count++) yield 'x'.repeat(4096)
  })
  const id = await begin(handler, 'x')
  const reader = (await attach(handler)).body!.getReader()
  const first = await reader.read()
  expect(new TextDecoder().decode(first.value)).toContain('RUN_STARTED')
  gate.resolve()
  await eventually(async () => {
    const init = { headers: { 'x-test-user': 'ann' } }
    const record = await (await handler(new Request(`${ORIGIN}/api/runs/${id}`, init))).json()
    expect(record.status).toBe('completed')
  })
  let [total, largest, end] = [0, 0, '']
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    total += read.value.length
    largest = Math.max(largest, read.value.length)
    end = new TextDecoder().decode(read.value.slice(-1000))
  }
  expect(total).toBeGreaterThan(4000 * 4096)
  expect(largest).toBeLessThan(512 * 1024)
  expect(end).toContain('RUN_FINISHED')
}, 12_000)
