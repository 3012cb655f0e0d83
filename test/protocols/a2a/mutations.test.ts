// @module-tag long
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Agent, createHandler } from '../../../src/index.ts'
import { codePoint } from '../../code-point.ts'
import { eventually } from '../../eventually.ts'
import { LONG } from '../../tags.ts'
import { DIALECTS, type Json, messageOf } from './requests.ts'

/** Requests of both tests together. */
const RUNS = 100_000

/** Milliseconds after which a request has hung. */
const HANGS_MS = 5000

const echo = new Agent({ name: 'echo', register: false, run: () => 'ok' })
const asks = new Agent({
  name: 'asks',
  register: false,
  run: () => ({ text: 'what?', finishReason: 'input_required' as const }),
})
const says = new Agent({
  name: 'says',
  register: false,
  async *run() {
    yield { type: 'message', parts: [{ type: 'text', text: 'hi' }] }
  },
})

function newHandler() {
  return createHandler({
    agents: { echo, asks, says },
    registry: false,
    logger: false,
    a2a: { default: 'echo', listAnonymous: true, maxTasksPerOwner: 1_000_000 },
    runs: { maxRunning: 1_000_000, maxRunningPerOwner: 1_000_000, timeoutMs: 2000 },
  })
}

const RPC_METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetExtendedAgentCard',
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
  'tasks/pushNotificationConfig/list',
  'agent/getAuthenticatedExtendedCard',
]

/** Names that objects of every kind have, and values that they may hold, so that what is random is nearly right. */
const names = fc.constantFrom(
  ...[
    'message',
    'parts',
    'content',
    'text',
    'data',
    'raw',
    'url',
    'file',
    'kind',
    'role',
    'messageId',
    'taskId',
  ],
  ...[
    'contextId',
    'metadata',
    'configuration',
    'historyLength',
    'id',
    'params',
    'method',
    'jsonrpc',
    'pageSize',
  ],
  ...['pageToken', 'status', 'agentName', '__proto__', 'constructor', 'toString', 'history_length', ''],
)
const values = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2, stringUnit: codePoint }) },
  fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    1e308,
    -0,
    true,
    [],
    {},
    [[]],
    [null],
    { text: 'x' },
    'user',
    'ROLE_USER',
  ),
  fc.constantFrom<unknown>('\u0000', '\ud800', '__proto__', 2 ** 53, 'text', 'task', ['x'], 'x'.repeat(5000)),
)

/** Places in JSON, as paths. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
}

interface Mutation {
  readonly place: number
  readonly how: 'replace' | 'remove' | 'add' | 'double'
  readonly name: string
  readonly value: unknown
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(1000),
  how: fc.constantFrom('replace', 'remove', 'add', 'double'),
  name: names,
  value: values,
})

function define(on: object, name: string, value: unknown): void {
  Object.defineProperty(on, name, { value, enumerable: true, configurable: true, writable: true })
}

/** JSON with something in it changed. */
function mutated(json: unknown, { place, how, name, value }: Mutation): unknown {
  const places = placesIn(json)
  const path = places[place % places.length] ?? []
  const copy = { root: structuredClone(json) }
  const steps = ['root', ...path]
  const last = steps.pop()!
  const parent = steps.reduce<Record<string, unknown>>(
    (at, step) => at[step] as Record<string, unknown>,
    copy,
  )
  if (how === 'remove') delete parent[last]
  else if (how === 'double') define(parent, last, [parent[last], parent[last]])
  else if (how === 'add' && typeof parent[last] === 'object' && parent[last] !== null)
    define(parent[last], name, value)
  else define(parent, last, value)
  return copy.root
}

/** A request as fetch makes it. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

const someTask = fc.constantFrom('known', 'waiting', 'nowhere', '', '%00', 'x:y', '..', '日本')

const validSend = fc
  .tuple(fc.nat(2), fc.constantFrom('echo', 'asks', 'says', 'nobody'), someTask, fc.boolean())
  .map(([wire, agentName, taskId, hasTask]) => {
    const dialect = DIALECTS[wire]!
    const { parts, text, raw, data } = dialect
    const message = messageOf(dialect, {
      [parts]: [text('a'), raw('AAEC'), data({ b: [1] })],
      metadata: { agentName },
      ...(hasTask && { taskId }),
    })
    return { wire, params: { message, configuration: { historyLength: 1 } } as Json }
  })

const validTask = fc.tuple(someTask, fc.nat(3)).map(([id, historyLength]) => ({ id, historyLength }) as Json)
const validList = fc.constantFrom<Json>({}, { pageSize: 2 }, { contextId: 'c', includeArtifacts: true })

/** Calls of JSON-RPC as they should be. */
const validRpc: fc.Arbitrary<Json> = fc
  .tuple(fc.constantFrom(...RPC_METHODS), validSend, validTask, validList)
  .map(([method, send, task, list]) => {
    const params = /essage$|essage\/|Streaming/.test(method)
      ? send.params
      : method === 'ListTasks'
        ? list
        : task
    return { jsonrpc: '2.0', id: 1, method, params }
  })

const headers = fc
  .record(
    {
      'content-type': fc.constantFrom('application/json', 'application/a2a+json', 'text/plain', ''),
      'a2a-version': fc.constantFrom('', '0.3', '1.0', '2.0', '1.0.1', 'x'),
      'last-event-id': fc.constantFrom('', '0', '1', '99999', '-1', 'x', '1e3'),
      accept: fc.constantFrom('application/a2a+json', 'text/event-stream', '*/*'),
    },
    { requiredKeys: [] },
  )
  .map(given => ({ 'content-type': 'application/json', ...given }) as Record<string, string>)
const plainHeaders = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Record<string, string>>({ 'content-type': 'application/json' }) },
  headers,
)

const mutatedRpc: fc.Arbitrary<Sent> = fc
  .tuple(validRpc, fc.array(mutation, { maxLength: 3 }), plainHeaders)
  .map(([json, mutations, headers]) => ({
    method: 'POST',
    path: '/',
    headers,
    body: JSON.stringify(mutations.reduce<unknown>(mutated, json)) ?? '',
  }))

const mutatedRest: fc.Arbitrary<Sent> = fc
  .tuple(validSend, fc.array(mutation, { maxLength: 3 }), fc.constantFrom(':send', ':stream'), plainHeaders)
  .map(([{ wire, params }, mutations, verb, headers]) => ({
    method: 'POST',
    path: `${wire === 0 ? '' : '/v1'}/message${verb}`,
    headers,
    body: JSON.stringify(mutations.reduce<unknown>(mutated, params)) ?? '',
  }))

const queryValue = fc.constantFrom(
  '',
  '0',
  '1',
  '-1',
  '50',
  '1e9',
  'x',
  'TASK_STATE_COMPLETED',
  '2026-01-01T00:00:00Z',
  'true',
)
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'historyLength',
        'pageSize',
        'pageToken',
        'status',
        'contextId',
        'includeArtifacts',
        'statusTimestampAfter',
        '__proto__',
        'id',
        'A2A-Version',
      ),
      fc.oneof(queryValue, fc.string({ maxLength: 8 })),
    ),
    { maxLength: 3 },
  )
  .map(entries => (entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`))

const restPath = fc
  .tuple(
    fc.constantFrom('', '/v1', '/agents/echo', '/agents/echo/v1', '/agents/nobody'),
    fc.oneof(someTask, fc.string({ maxLength: 6 }).map(encodeURIComponentSafely)),
    fc.constantFrom(
      '',
      ':cancel',
      ':subscribe',
      ':x',
      '/pushNotificationConfigs',
      '/pushNotificationConfigs/c',
      '/x',
    ),
    query,
  )
  .map(([prefix, id, verb, query]) => `${prefix}/tasks${id === '' ? '' : `/${id}`}${verb}${query}`)

function encodeURIComponentSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

const read: fc.Arbitrary<Sent> = fc
  .tuple(fc.constantFrom('GET', 'POST', 'DELETE', 'HEAD', 'PUT'), restPath, plainHeaders)
  .map(([method, path, headers]) => ({ method, path, headers, body: undefined }))

const randomBody = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.string({ maxLength: 40 }),
  fc.dictionary(names, values, { maxKeys: 5 }).map(value => JSON.stringify(value)),
)
const random: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.constantFrom('/', '/message:send', '/message:stream', '/v1/message:send', '/agents/echo'),
    randomBody,
    plainHeaders,
  )
  .map(([path, body, headers]) => ({ method: 'POST', path, headers, body }))

describe('createHandler with a2a', LONG, () => {
  let handler: ReturnType<typeof newHandler>
  /** Those that were right after all: mutations that break everything would test nothing. */
  let succeeded = 0
  const known: Record<string, string> = {}
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  beforeAll(() => process.on('unhandledRejection', note))
  afterAll(() => void process.off('unhandledRejection', note))
  beforeEach(async () => {
    handler = newHandler()
    succeeded = 0
    known.known = await begin('echo')
    known.waiting = await begin('asks')
  })
  afterEach(() => expect(unhandled).toEqual([]))

  async function begin(agentName: string): Promise<string> {
    const [dialect] = DIALECTS
    const message = messageOf(dialect!, { metadata: { agentName } })
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ message }) }
    const response = await handler(new Request('http://a.example/message:send', init))
    return ((await response.json()) as { task: { id: string } }).task.id
  }

  const withKnown = (text: string) => text.replaceAll(/\b(known|waiting)\b/g, name => known[name] ?? name)

  /** Reads an answer to its end; a stream for as long as it has something to say at once. */
  async function answerOf({ method, path, headers, body }: Sent): Promise<{ status: number; text: string }> {
    const init = { method, headers, ...(body !== undefined && { body: withKnown(body) }) }
    const response = await handler(new Request(`http://a.example${withKnown(path)}`, init))
    const { status } = response
    if (response.headers.get('content-type') !== 'text/event-stream')
      return { status, text: await response.text() }
    // A subscriber of a task that waits is served for as long as it likes.
    const reader = response.body?.getReader()
    if (reader === undefined) return { status, text: '' }
    const { value } = await reader.read()
    await reader.cancel()
    return { status, text: new TextDecoder().decode(value) }
  }

  async function expectHarmless(sent: Sent): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('it hangs')), HANGS_MS)
    try {
      const { status, text } = await Promise.race([answerOf(sent), late])
      // Three `expect` for each of 100,000 requests take two seconds.
      if (status >= 500 || /"code":-32603|internal_error/.test(text)) throw new Error(`${status} ${text}`)
      if (status === 200 && /"(task|kind|tasks)":/.test(text)) succeeded++
    } finally {
      clearTimeout(timer)
    }
  }

  it.each([
    ['JSON-RPC', mutatedRpc, 0.4, 1000],
    ['HTTP+JSON', fc.oneof(mutatedRest, read), 0.4, 1000],
    ['either binding from anything at all', random, 0.2, 0],
  ])(
    'answers mutated requests without failing: %s',
    async (_, arbitrary, share, some) => {
      await fc.assert(fc.asyncProperty(arbitrary, expectHarmless), { numRuns: RUNS * share })
      await eventually(() => expect(unhandled).toEqual([]))
      expect(succeeded).toBeGreaterThanOrEqual(some)
    },
    300_000,
  )
})
