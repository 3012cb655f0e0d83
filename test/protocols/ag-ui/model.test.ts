/** A model behind an agent, asked by stock clients: tools of the client, approvals, and members that a model leads. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ModelAgent, type ModelAgentConfig } from '../../../src/adapters/model-agent/index.ts'
import { createHandler, memoryState, tool } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { calls, type Provider, says, startProvider } from '../../adapters/model-agent/provider.ts'
import { type AgUiClient, CLIENTS } from './clients.ts'
import type { Told } from './told.ts'

let provider: Provider
let server: Awaited<ReturnType<typeof serve>>

const model: ModelAgentConfig['model'] = () =>
  createOpenAICompatible({ name: 'provider-a', baseURL: provider.url, apiKey: 'k', includeUsage: true })('m')

const refund = tool({
  name: 'refund',
  parameters: { type: 'object', properties: { order: { type: 'number' } } },
  needsApproval: true,
  execute: args => ({ refunded: args }),
})

beforeAll(async () => {
  provider = await startProvider()
  const helper = new ModelAgent({ name: 'helper', model, register: false, tools: [refund] })
  const handler = createHandler({
    serve: [helper],
    registry: false,
    state: memoryState(),
    plugins: [agUi()],
  })
  server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
})
afterAll(async () => {
  await server.close()
  await provider.stop()
})

async function play(client: AgUiClient, parameters: Parameters<AgUiClient['runAgent']>[0] = {}) {
  const events: Told[] = []
  await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as unknown as Told) })
  return events
}

const TOOLS = [{ name: 'pick_color', description: 'Asks for a color', parameters: { type: 'object' } }]

describe.each(Object.entries(CLIENTS))('a model asked by the client %s', (_, make) => {
  const say = (text: string) => {
    const client = make({ url: `${server.url}/api/agents/helper/ag-ui` })
    client.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
    return client
  }
  const types = (events: readonly Told[]) => events.map(({ type }) => type)

  it('gets what tools of both sides gave, each once', async () => {
    const client = say('Paint it and refund 7')
    provider.script(calls(['pick_color', { hue: 'warm' }], ['refund', { order: 7 }]))
    const asked = await play(client, { tools: TOOLS })
    const [pick, pay] = asked.filter(({ type }) => type === 'TOOL_CALL_START')
    expect([pick?.toolCallName, pay?.toolCallName]).toEqual(['pick_color', 'refund'])
    client.pendingInterrupts = []
    const results = [
      [pick, '{"color":"red"}'],
      [pay, '{"approved":true}'],
    ] as const
    for (const [call, content] of results) {
      client.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId: call?.toolCallId, content })
    }
    provider.script(says('Red, and refunded'))
    const told = await play(client, { tools: TOOLS })
    expect(types(told)).not.toContain('TOOL_CALL_START')
    expect(told.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: pay?.toolCallId, content: '{"refunded":{"order":7}}' },
    ])
    expect(client.messages.at(-1)?.content).toBe('Red, and refunded')
    const heard = JSON.stringify(provider.asked.at(-1)?.body.messages)
    for (const said of ['red', 'refunded']) expect(heard.split(`\\"${said}`)).toHaveLength(2)
  })

  it('is told the conversation with its calls by the client', async () => {
    const client = say('Paint')
    provider.script(calls(['pick_color', {}]))
    const [call] = (await play(client, { tools: TOOLS })).filter(({ type }) => type === 'TOOL_CALL_START')
    client.addMessage({ id: '2', role: 'tool', toolCallId: call?.toolCallId, content: 'red' })
    provider.script(says('It is red'))
    await play(client, { tools: TOOLS })
    client.addMessage({ id: '3', role: 'user', content: 'And now?' })
    provider.script(says('Still red'))
    await play(client, { tools: TOOLS })
    const heard = provider.asked.at(-1)?.body.messages ?? []
    expect(heard.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(client.messages.at(-1)?.content).toBe('Still red')
  })

  it('goes on with a new message where a call was never decided', async () => {
    const client = say('Refund 7')
    provider.script(calls(['refund', { order: 7 }]))
    await play(client)
    client.pendingInterrupts = []
    client.addMessage({ id: '2', role: 'user', content: 'Never mind' })
    provider.script(says('Good'))
    await play(client)
    expect(client.messages.at(-1)?.content).toBe('Good')
  })
})
