import type { Transport } from '@modelcontextprotocol/client'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type OpenStdio, ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import type { KeptDefinition } from '../../../src/agents/tool-servers.ts'
import { ServableError } from '../../../src/index.ts'
import { type RunningServer, serve } from '../../../src/runtimes/node.ts'
import { eventually } from '../../eventually.ts'

let server: RunningServer
beforeAll(async () => {
  const { fetch } = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'test', version: '1' })
    const tell = (value: unknown) => ({ content: [], structuredContent: value as Record<string, unknown> })
    mcp.registerTool(
      'tell',
      { description: 'Knows token-1234567', inputSchema: z.object({ value: z.any() }) },
      ({ value }) => tell(value),
    )
    return mcp
  })
  server = await serve(request => fetch(request), { port: 0 })
})
afterAll(() => server.close())

/** The tool servers of a manager, kept in memory. */
function open(isShared = false, stdio?: OpenStdio) {
  const kept = new Map<string, KeptDefinition>()
  const manager = new ToolServerManager({ register: false, retryMs: 50, ...(stdio && { stdio }) })
  const changes: string[] = []
  const place = {
    store: {
      isShared,
      all: () => [...kept.values()],
      put: (definition: KeptDefinition, check?: (others: readonly KeptDefinition[]) => void) => {
        check?.([...kept.values()])
        kept.set(definition.id, definition)
      },
      change(id: string, change: (found: KeptDefinition) => KeptDefinition | undefined) {
        const found = kept.get(id)
        const changed = found && change(found)
        if (changed !== undefined) kept.set(id, changed)
        return changed ?? found
      },
      remove: (id: string) => void kept.delete(id),
    },
    policy: { allow: ['127.0.0.1'], commands: ['silent'] },
    onChange: ({ status }: { status: string }) => void changes.push(status),
  }
  manager.use(manager.open(place))
  return { manager, servers: manager.servers, kept, changes, another: () => manager.open(place) }
}

const definition = () => ({
  name: 'test',
  transport: 'http' as const,
  url: server.url,
  headers: { authorization: 'Bearer token-1234567' },
})

describe('a link to a tool server', () => {
  it('cuts secrets out of what comes back, and leaves the rest as it is', async () => {
    const { servers, manager } = open()
    await servers.add({ ...definition(), url: `${server.url}/?api_key=1234567&region=europe` })
    const ask = (value: unknown) => servers.call('test.tell', { value })
    expect(await ask({ n: 1234567, europe: ['europe'], path: '/srv/europe' })).toEqual({
      n: 1234567,
      europe: ['europe'],
      path: '/srv/europe',
    })
    expect(await ask({ a: ['x token-1234567 y'], b: { c: '1234567' } })).toEqual({
      a: ['x [redacted] y'],
      b: { c: '[redacted]' },
    })
    const [tool] = await servers.tools()
    expect(tool?.description).toBe('Knows [redacted]')
    manager.close()
  })

  it('cuts a secret out as it stands in an address', async () => {
    const { servers, manager } = open()
    await servers.add({ ...definition(), headers: { authorization: 'Bearer a+b/1234567' } })
    const value = { next: 'https://t.example/?token=a%2Bb%2F1234567' }
    expect(await servers.call('test.tell', { value })).toEqual({
      next: 'https://t.example/?token=[redacted]',
    })
    manager.close()
  })

  it('cuts a secret out of JSON in a text, whatever its writer escapes, and out of names', async () => {
    const { servers, manager } = open()
    await servers.add({ ...definition(), headers: { 'x-api-key': 'a+b/"1234567' } })
    const texts = ['a+b/\\"1234567', 'a+b\\/\\"1234567', 'a\\u002Bb/\\u00221234567']
    const value = { json: texts.map(text => `{"key":"${text}"}`), 'a+b/"1234567': 1 }
    expect(await servers.call('test.tell', { value })).toEqual({
      json: texts.map(() => '{"key":"[redacted]"}'),
      '[redacted]': 1,
    })
    manager.close()
  })

  it.each([[[1]], ['text'], [7], [{ big: 7n }]])(
    'refuses the arguments %o before anyone is asked',
    async args => {
      const { servers, manager } = open()
      await servers.add(definition())
      await expect(servers.call('test.tell', args)).rejects.toMatchObject({ code: 'invalid_input' })
      const circle: Record<string, unknown> = {}
      circle.self = circle
      await expect(servers.call('test.tell', circle)).rejects.toMatchObject({ code: 'invalid_input' })
      manager.close()
    },
  )

  it('forgets what another process has removed, without being asked', async () => {
    const { servers, kept, manager, another } = open(true)
    const { id } = await servers.add(definition())
    await another().remove(id)
    expect(kept.size).toBe(0)
    await expect(servers.get(id)).rejects.toMatchObject({ code: 'tool_server_not_found' })
    await expect(servers.call('test.tell', { value: {} })).rejects.toMatchObject({ code: 'tool_not_found' })
    manager.close()
  })

  it('connects again where it was closed', async () => {
    const { servers, manager } = open()
    await servers.add(definition())
    manager.close()
    expect(await servers.call('test.tell', { value: { a: 1 } })).toEqual({ a: 1 })
    manager.close()
  })

  it('ends a program that it gives up before it knows what that speaks', async () => {
    let [isAsked, isClosed] = [false, false]
    const silent: Transport = {
      async start() {},
      async send() {
        isAsked = true
      },
      async close() {
        isClosed = true
      },
    }
    const { servers, manager } = open(false, () => silent)
    const adding = servers.add({ name: 'test', transport: 'stdio', command: 'silent' })
    await eventually(() => expect(isAsked).toBe(true))
    const [added] = await servers.list()
    await servers.disconnect(added!.id)
    await eventually(() => expect(isClosed).toBe(true))
    expect((await adding).status).toBe('disconnected')
    manager.close()
  })

  it('answers several that connect at once with where it stands in the end', async () => {
    const { servers, manager } = open()
    const { id } = await servers.add(definition())
    const views = await Promise.all([1, 2, 3, 4].map(() => servers.connect(id)))
    expect(views.map(({ status }) => status)).toEqual(['connected', 'connected', 'connected', 'connected'])
    const [removed] = await Promise.all([servers.remove(id), servers.connect(id).catch(error => error.code)])
    expect(removed.status).toBe('disconnected')
    manager.close()
  })
})

describe('ToolServerManager', () => {
  it.each([
    [{ maxServers: 0 }, 'maxServers'],
    [{ callTimeoutMs: 'soon' }, 'callTimeoutMs'],
    [{ encryptionKey: 'short' }, 'encryptionKey'],
    [{ stdio: {} }, 'stdio'],
    [{ servers: [] }, 'servers'],
  ])('refuses %o and names the option', (options, name) => {
    expect(() => new ToolServerManager({ ...options, register: false } as never)).toThrow(`\`${name}\``)
  })

  it('says what to do before a handler has it, and of a tool without a server', () => {
    const manager = new ToolServerManager({ register: false })
    expect(() => manager.servers).toThrow(/createHandler.*admin\.manager/)
    expect(() => manager.tool('forecast')).toThrow(ServableError)
  })
})
