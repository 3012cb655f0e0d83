/** Resources and prompts of servers that do not behave. */
import { createServer, type ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { readFrom } from '../../../src/adapters/mcp-client/reads.ts'
import type { KeptDefinition } from '../../../src/agents/tool-servers.ts'
import { listening } from '../../listening.ts'

type Params = { readonly uri?: string; readonly cursor?: string }
type Answer = object | ((response: ServerResponse) => void)

/** What the server answers, by its path and the method. */
const WAYS: Readonly<Record<string, Readonly<Record<string, (params: Params) => Answer>>>> = {
  '/bare': {},
  '/cursors': {
    // A cursor that was made up by the server, and never the same.
    'resources/list': () => ({
      resources: [{ uri: 'a:b', name: 'b' }],
      nextCursor: `${Math.random()}`,
    }),
    'prompts/list': ({ cursor }) => ({
      prompts: [{ name: `p${cursor}` }],
      nextCursor: 'x'.repeat(1_000_000),
    }),
  },
  '/odd': {
    'resources/list': () => ({
      resources: [null, 7, { name: 'x' }, { uri: '' }, { uri: 'a:1', name: 7, size: -1 }],
    }),
    'resources/templates/list': () => ({ resourceTemplates: [{ name: 'x' }, { uriTemplate: 'a:{b}' }] }),
    'prompts/list': () => ({
      prompts: [{ name: '' }, { name: 'p', description: 'd'.repeat(9999), arguments: [{}, { name: 'a' }] }],
    }),
    'resources/read': () => ({ contents: [{ uri: 'a:1' }] }),
    'prompts/get': () => ({ messages: [{ role: 'system', content: {} }] }),
  },
  '/no-lists': {
    'resources/list': () => ({ resources: 7 }),
    'prompts/list': () => ({}),
    'resources/read': () => ({}),
    'prompts/get': () => ({}),
  },
  '/huge': { 'resources/read': () => flood },
}

let sent = 0
/** A gigabyte, unless its reader leaves. */
function flood(response: ServerResponse): void {
  sent = 0
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = 'x'.repeat(65_536)
  const write = () => {
    while (!response.destroyed && sent < 2 ** 30) {
      sent += chunk.length
      if (!response.write(chunk)) return void response.once('drain', write)
    }
    response.end()
  }
  write()
}

let server: Awaited<ReturnType<typeof listening>>
beforeAll(async () => {
  server = await listening(
    createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
      if (id === undefined) return void response.writeHead(202).end()
      const way = WAYS[request.url ?? ''] ?? {}
      const has = (kind: string) => Object.keys(way).some(each => each.startsWith(kind)) && { [kind]: {} }
      const capabilities = { tools: {}, ...has('resources'), ...has('prompts') }
      const own: Readonly<Record<string, (params: Params) => Answer>> = {
        initialize: () => ({
          protocolVersion: '2025-06-18',
          capabilities,
          serverInfo: { name: 'hostile', version: '1' },
        }),
        'tools/list': () => ({ tools: [] }),
        ...way,
      }
      const result = own[method]?.(params)
      if (typeof result === 'function') return result(response)
      const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    }),
  )
})
afterAll(() => server.stop())

async function managerOf(path: string) {
  const kept = new Map<string, KeptDefinition>()
  const manager = new ToolServerManager({ register: false, maxTools: 50, callTimeoutMs: 5000 })
  manager.use(
    manager.open({
      store: {
        isShared: false,
        all: () => [...kept.values()],
        put: definition => void kept.set(definition.id, definition),
        change: id => kept.get(id),
        remove: id => void kept.delete(id),
      },
      policy: { allow: ['127.0.0.1'], commands: [] },
      onChange: () => {},
    }),
  )
  const added = await manager.servers.add({ name: 's', transport: 'http', url: `${server.url}${path}` })
  expect(added.error).toBeNull()
  return manager
}

describe('resources and prompts of a server', () => {
  it('are empty lists if it has none', async () => {
    const manager = await managerOf('/bare')
    expect(await manager.resources('s')).toEqual({ resources: [], templates: [], warnings: [] })
    expect(await manager.prompts('s')).toEqual({ prompts: [], warnings: [] })
    await expect(manager.readResource('s', 'a:b')).rejects.toMatchObject({ code: 'tool_failed' })
    await expect(manager.prompt('s', 'p')).rejects.toMatchObject({ code: 'tool_failed' })
    manager.close()
  })

  it('end at their limits, whatever cursors it makes up', async () => {
    const manager = await managerOf('/cursors')
    const { resources, templates, warnings } = await manager.resources('s')
    expect([resources.length, templates.length]).toEqual([50, 0])
    expect(warnings).toEqual(['only the first 50 of `resources/list` are used: the server has more'])
    const { prompts } = await manager.prompts('s')
    expect(prompts.map(({ name }) => name)).toEqual(['pundefined'])
    manager.close()
  })

  it('leave out what cannot be used, and say so', async () => {
    const manager = await managerOf('/odd')
    const { resources, templates, warnings } = await manager.resources('s')
    expect(resources).toEqual([{ uri: 'a:1', name: 'a:1', description: null, mimeType: null, size: null }])
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['a:{b}'])
    expect(warnings).toEqual([
      '4 left out of `resources/list`: an entry has no usable name or address',
      '1 left out of `resources/templates/list`: an entry has no usable name or address',
    ])
    const { prompts } = await manager.prompts('s')
    expect(prompts).toMatchObject([{ name: 'p', arguments: [{ name: 'a', required: false }] }])
    expect(prompts[0]?.description).toHaveLength(2000)
    manager.close()
  })

  it.each(['/odd', '/no-lists'])('fail with a code if an answer of %s is none', async path => {
    const manager = await managerOf(path)
    const failing = [manager.readResource('s', 'a:1'), manager.prompt('s', 'p')]
    if (path === '/no-lists') failing.push(manager.resources('s') as never, manager.prompts('s') as never)
    for (const each of await Promise.allSettled(failing))
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'tool_server_failed' } })
    manager.close()
  })

  it('are refused while they arrive if they are larger than the limit', async () => {
    const manager = await managerOf('/huge')
    await expect(manager.readResource('s', 'a:b')).rejects.toMatchObject({
      code: 'tool_server_failed',
      message: expect.stringContaining('more than 4194304 bytes'),
    })
    // What is on its way when the reader leaves is a matter of the sockets' buffers.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
    manager.close()
  })

  it('are asked for by valid names, of a server that there is', async () => {
    const manager = await managerOf('/bare')
    const invalid = [
      manager.readResource('s', ''),
      manager.readResource('s', 'x'.repeat(2049)),
      manager.prompt('s', ''),
      manager.prompt('s', 'p', { a: 7 } as never),
    ]
    for (const each of await Promise.allSettled(invalid))
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'invalid_input' } })
    await expect(manager.prompts('t')).rejects.toMatchObject({ code: 'tool_server_not_found' })
    const signal = AbortSignal.abort()
    await expect(manager.readResource('s', 'a:b', { signal })).rejects.toMatchObject({
      message: 'The call was cancelled',
    })
    manager.close()
  })
})

it('holds only usable entries in a list, whatever is sent', async () => {
  const page = fc.array(fc.oneof(fc.jsonValue(), fc.record({ uri: fc.jsonValue(), name: fc.jsonValue() })))
  await fc.assert(
    fc.asyncProperty(page, async sent => {
      const ask = async () => ({ resources: sent, resourceTemplates: sent, prompts: sent })
      const server = { capabilities: { resources: {}, prompts: {} }, maxItems: 5, ask }
      for (const kind of ['resources', 'prompts'] as const) {
        const list = Object.values((await readFrom({ kind }, server)) as Record<string, unknown[]>)[0]!
        expect(list.length).toBeLessThanOrEqual(5)
        for (const each of list) expect(each).toMatchObject({ name: expect.any(String) })
      }
    }),
  )
})
