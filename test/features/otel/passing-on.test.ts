/** What a traced run calls is told its place in the trace. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import type { KeptDefinition } from '../../../src/agents/tool-servers.ts'
import { Agent } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import {
  type Answer,
  calls,
  type Provider,
  says,
  startProvider,
} from '../../adapters/model-agent/provider.ts'
import { toolServer } from '../../contracts/admin/tool-server.ts'
import { CLIENT, TRACEPARENT, traced } from './kit.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.stop())

/** The parameters of the calls that a tool server gets. */
async function startTools() {
  const asked: { name: string; _meta?: { traceparent?: string } }[] = []
  const { fetch } = toolServer()
  const server = await serve(
    async request => {
      const { method, params } = await request
        .clone()
        .json()
        .catch(() => ({}))
      if (method === 'tools/call') asked.push(params)
      return fetch(request)
    },
    { port: 0 },
  )
  const kept = new Map<string, KeptDefinition>()
  const manager = new ToolServerManager({ register: false })
  const store = {
    isShared: false,
    all: () => [...kept.values()],
    put: (definition: KeptDefinition) => void kept.set(definition.id, definition),
    change: (id: string) => kept.get(id),
    remove: (id: string) => void kept.delete(id),
  }
  manager.use(manager.open({ store, policy: { allow: ['127.0.0.1'], commands: [] }, onChange() {} }))
  await manager.servers.add({ name: 'test', transport: 'http', url: server.url })
  const stop = async () => {
    manager.close()
    await server.close()
  }
  return { asked, manager, stop }
}

describe('a model with tools of a tool server', () => {
  it('is asked with the place of the run, the tool server with that of the call', async () => {
    const { asked, manager, stop } = await startTools()
    const headers: unknown[] = []
    const noting =
      (answer: Answer): Answer =>
      (response, each, request) => {
        headers.push(request.headers.traceparent)
        answer(response, each, request)
      }
    provider.script(noting(calls(['test_forecast', { city: 'Oslo' }])), noting(says('Sunny')))
    const agent = new ModelAgent({
      name: 'helper',
      register: false,
      model: () =>
        createOpenAICompatible({ name: 'provider-a', baseURL: provider.url, apiKey: 'k' })('model-1'),
      tools: [manager.tool('test.forecast')],
    })
    const { run, span, spans, tree } = traced([agent])
    try {
      expect(await run('agents/helper', { input: 'hi' }, { traceparent: TRACEPARENT })).toMatchObject({
        text: 'Sunny',
      })
    } finally {
      await stop()
    }
    const placeOf = (name: string) => `00-${CLIENT.traceId}-${span(name).spanContext().spanId}-01`
    const own = placeOf('invoke_agent helper')
    expect(headers).toEqual([own, own])
    expect(asked).toMatchObject([
      { name: 'forecast', _meta: { traceparent: placeOf('execute_tool test.forecast') } },
    ])
    expect(spans().filter(({ name }) => name.startsWith('chat '))).toHaveLength(2)
    expect(Object.keys(tree()['invoke_agent helper'] ?? {})).toContain('execute_tool test.forecast')
  })
})

describe('a run that nobody traces', () => {
  it('has the place of the client, and no more', async () => {
    const seen: unknown[] = []
    const agent = new Agent({
      name: 'teller',
      register: false,
      tools: [{ name: 'look', execute: (_, context) => seen.push(context.traceparent) }],
      async *run(_, { callTool, traceparent }) {
        seen.push(traceparent)
        yield* callTool('look', {})
      },
    })
    const { run } = traced([agent], { plugins: [] })
    await run('agents/teller', { input: 'hi' }, { traceparent: TRACEPARENT })
    expect(seen).toEqual([TRACEPARENT, TRACEPARENT])
  })
})
