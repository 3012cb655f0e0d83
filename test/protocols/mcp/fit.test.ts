/** Whatever the endpoint says fits the schemas of the official SDK. */
import { type SpecTypeName, specTypeSchemas } from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Agent, createHandler, memoryState, Registry } from '../../../src/index.ts'
import { directTools, mcp, mcpTasks, toJsonSchema } from '../../../src/protocols/mcp/plugin.ts'
import { speaker } from '../../support.ts'
import { messagesIn, SHOWS_FORMS, serve } from './calling.ts'

const expectFit = (name: SpecTypeName, value: unknown) =>
  expect([name, specTypeSchemas[name]['~standard'].validate(value)]).not.toEqual([
    name,
    expect.objectContaining({ issues: expect.anything() }),
  ])

const output = v.object({ n: v.pipe(v.number(), v.description('How many')) })
const agents = {
  says: speaker('says', 'hi'),
  counts: new Agent({ name: 'counts', register: false, output, run: () => ({ structured: { n: 1 } }) }),
  asks: new Agent({
    ...{ name: 'asks', register: false },
    async *run(_, { ask }) {
      yield `said ${yield* ask('q', { schema: { type: 'object', properties: { a: { type: 'string' } } } })}`
    },
  }),
  fails: new Agent({
    ...{ name: 'fails', register: false },
    run() {
      throw new Error('no')
    },
  }),
}
const circular: Record<string, unknown> = { type: 'object' }
circular.self = circular
const parameters = [
  z.object({ a: z.string().optional(), b: z.union([z.string(), z.number()]) }),
  z.object({ a: z.lazy(() => z.string()) }),
  v.object({ a: v.optional(v.string(), 'x') }),
  { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
  { type: 'string' },
  { type: ['object', 'null'] },
  { anyOf: [{ type: 'object' }] },
  z.string(),
  circular,
  { type: 'object', properties: { a: 1n } },
  'string',
  undefined,
]
const tools = parameters.map((schema, at) => ({ name: `t${at}`, parameters: schema, execute: () => at }))
const served = serve(
  {
    tools: [{ of: 'says', title: 'Says', annotations: { readOnlyHint: true } }, 'counts', 'asks', 'fails'],
    directTools: directTools({ toolkits: [{ name: 'kit', tools }] }),
    ...{ tasks: mcpTasks(), toJsonSchema, instructions: 'x', title: 'x' },
  },
  { agents, state: memoryState() },
)

describe('what the endpoint says', () => {
  it('of itself', async () => {
    expectFit('DiscoverResult', (await served.ask('server/discover')).result)
    for (const protocolVersion of ['2025-03-26', '2025-06-18', '2025-11-25'])
      expectFit('InitializeResult', (await served.askLegacy('initialize', { protocolVersion })).result)
    expectFit('EmptyResult', (await served.askLegacy('ping')).result)
  })

  it('of tools with any schema', async () => {
    for (const ask of [served.ask, served.askLegacy]) {
      const { result } = await ask('tools/list')
      expect(result.tools.length).toBe(4 + tools.length)
      expectFit('ListToolsResult', result)
    }
  })

  it('of calls', async () => {
    for (const name of ['says', 'counts', 'fails', 't0', 't5', 't11']) {
      const { message, result } = await served.call(name)
      expectFit('JSONRPCResultResponse', message)
      expectFit('CallToolResult', result)
    }
    const { result } = await served.call('asks', { input: 'x' }, { capabilities: SHOWS_FORMS })
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    expectFit('ElicitRequest', result.inputRequests.q)
  })

  it('on a stream', async () => {
    const { text } = await served.call('says', { input: 'x' }, { meta: { progressToken: 'p' } })
    const messages = messagesIn(text)
    for (const message of messages.slice(0, -1)) expectFit('ProgressNotification', message)
    expectFit('JSONRPCResultResponse', messages.at(-1))
  })

  it('of mistakes', async () => {
    for (const answer of [
      await served.ask('no/method'),
      await served.call('nothing'),
      await served.call('says', { input: 'x' }, { headers: { 'mcp-name': 'other' } }),
      await served.call('says', { input: 'x' }, { params: { requestState: 'x' } }),
      await served.askLegacy('no/method'),
    ])
      expectFit('JSONRPCErrorResponse', answer.message)
  })
})

it('stands once in a handler', () => {
  const plugins = [mcp({ tools: true }), mcp({ tools: true, path: '/other' })]
  expect(() => createHandler({ registry: new Registry(), logger: false, plugins })).toThrow(
    expect.objectContaining({ code: 'invalid_options' }),
  )
})

it('stands beside agents that are named later than it', async () => {
  const registry = new Registry()
  const { list } = serve({ tools: true }, { registry })
  expect(await list()).toEqual([])
  for (const name of ['b', 'a']) new Agent({ name, register: registry, run: () => name })
  expect((await list()).map(({ name }) => name)).toEqual(['b', 'a'])
})
