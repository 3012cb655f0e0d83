/** Pages of tools: own ones, and those of tool servers. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { Agent, createHandler, memoryState, Registry, tool } from '../../../src/index.ts'
import { appPage, directTools, mcp, mcpResources } from '../../../src/protocols/mcp/plugin.ts'
import { serve as listen } from '../../../src/runtimes/node.ts'
import { serve } from './calling.ts'

const SHOWS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }
const EXTENSION = 'io.modelcontextprotocol/ui'

/** What the list of the service has. */
type Maps = readonly [{ readonly _meta: { readonly ui: { readonly resourceUri: string } } }]

const map = appPage({ uri: 'ui://map', html: '<p>map', csp: { resourceDomains: ['https://*.example.com'] } })
const show = tool({ name: 'show', page: map, execute: () => ({ place: 'Oslo' }) })
const zoom = tool({ name: 'zoom', visibility: ['app'], execute: () => 'zoomed' })
const plain = tool({ name: 'plain', execute: () => 'plain' })

const maker = new Agent({ name: 'maker', register: false, page: map, run: () => 'made' })

describe('a service', () => {
  it('without pages has neither the extension nor resources', async () => {
    const served = serve({ directTools: directTools({ toolkits: [{ name: 'kit', tools: [plain] }] }) })
    const { result } = await served.ask('server/discover')
    expect(result.capabilities).toEqual({ tools: { listChanged: true } })
    for (const method of ['resources/list', 'resources/read', 'resources/templates/list']) {
      expect((await served.ask(method, { uri: 'ui://map' })).error.code).toBe(-32601)
      expect((await served.askLegacy(method, { uri: 'ui://map' })).error.code).toBe(-32601)
    }
  })

  it('with pages alone lists and reads them', async () => {
    const served = serve(
      { tools: ['maker'], directTools: directTools({ toolkits: [{ name: 'kit', tools: [show, zoom] }] }) },
      { serve: [maker] },
    )
    const { result } = await served.ask('server/discover')
    expect(result.capabilities).toEqual({
      tools: { listChanged: true },
      resources: {},
      extensions: { [EXTENSION]: {} },
    })
    const begun = await served.askLegacy('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
    expect(begun.result.capabilities.extensions).toEqual({ [EXTENSION]: {} })
    // Two tools may have the same page.
    expect(
      (await served.ask('resources/list')).result.resources.map(({ uri }: { uri: string }) => uri),
    ).toEqual(['ui://map'])
    expect((await served.ask('resources/templates/list')).result.resourceTemplates).toEqual([])
    expect((await served.ask('resources/read', { uri: 'ui://map' })).result.contents[0].text).toBe('<p>map')
    for (const uri of ['ui://other', 'https://map', 7, undefined])
      expect(
        (await served.ask('resources/read', { uri }, { headers: { 'mcp-name': String(uri) } })).error.code,
      ).toBeLessThan(0)
    expect((await served.askLegacy('resources/read', { uri: 'ui://other' })).error.code).toBe(-32002)
    expect((await served.askLegacy('resources/subscribe', { uri: 'ui://map' })).error.code).toBe(-32601)
    const direct = await served.call('show', {}, { capabilities: SHOWS })
    expect(direct.result).toMatchObject({
      content: [{ text: '{"place":"Oslo"}' }],
      structuredContent: { place: 'Oslo' },
    })
  })

  it('hides what a page throws in production', async () => {
    const broken = appPage({
      uri: 'ui://broken',
      html: () => Promise.reject(new Error('the password is 1234')),
    })
    const served = serve({
      directTools: directTools({ toolkits: [{ name: 'kit', tools: [{ ...show, page: broken }] }] }),
    })
    const { error, text } = await served.ask('resources/read', { uri: 'ui://broken' })
    expect(error.code).toBe(-32603)
    expect(text).not.toContain('1234')
  })

  it('says in a list that an agent is for pages alone', async () => {
    const served = serve({ tools: [{ of: 'maker', visibility: ['app'] }] }, { serve: [maker] })
    expect(await served.list()).toEqual([])
    const [shown] = await served.list({ capabilities: SHOWS })
    expect(shown._meta.ui).toEqual({ resourceUri: 'ui://map', visibility: ['app'] })
    expect(() => serve({ tools: [{ of: 'maker', visibility: ['all'] as never }] })).toThrow('visibility')
  })
})

describe('the official client', () => {
  it.each(['auto', 'legacy'] as const)('reads a page beside other resources (%s)', async mode => {
    const resources = mcpResources({ 'text://plain': { read: () => 'Plain text' } })
    const served = serve({ tools: ['maker'], resources }, { serve: [maker] })
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: SHOWS, versionNegotiation: { mode } },
    )
    const fetch = (url: string | URL, init?: RequestInit) => served.handler(new Request(url, init))
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch: fetch as never }),
    )
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION]: {} })
    const [{ _meta }] = (await client.listTools()).tools as never as Maps
    const { contents } = await client.readResource({ uri: _meta.ui.resourceUri })
    expect(contents[0]).toMatchObject({ mimeType: 'text/html;profile=mcp-app', text: '<p>map' })
    expect((await client.readResource({ uri: 'text://plain' })).contents[0]).toMatchObject({
      text: 'Plain text',
    })
    expect((await client.listResources()).resources).toHaveLength(2)
    await client.close()
  })
})

describe('a gateway to a tool server with pages', () => {
  const toolServers = new ToolServerManager({ register: false })
  let server: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    const remote = createHandler({
      registry: new Registry(),
      plugins: [
        mcp({ directTools: directTools({ toolkits: [{ name: 'kit', tools: [show, zoom, plain] }] }) }),
      ],
    })
    server = await listen(remote, { port: 0 })
  })
  afterAll(async () => {
    toolServers.close()
    await server.close()
  })

  it('gives models no tool for pages, and reads a page from its server', async () => {
    const served = serve(
      { directTools: directTools({ toolkits: [{ name: 'kit', tools: [show] }], toolServers }) },
      {
        state: memoryState(),
        admin: { manager: toolServers, authenticate: () => ({ id: 'root' }), allow: ['127.0.0.1'] },
      },
    )
    await toolServers.servers.add({ name: 'far', transport: 'http', url: `${server.url}/mcp` })
    expect((await toolServers.tools()).map(({ name }) => name)).toEqual(['far.show', 'far.plain'])
    expect((await toolServers.tools({ forPages: true })).map(({ name }) => name)).toContain('far.zoom')
    const { page } = toolServers.tool('far.show')
    expect(await page?.read()).toEqual({
      html: '<p>map',
      csp: { resourceDomains: ['https://*.example.com'] },
    })
    expect(await toolServers.tool('far.plain').page?.read()).toBeUndefined()
    expect(await toolServers.tool('far.nothing').page?.read()).toBeUndefined()

    const list = await served.list({ capabilities: SHOWS })
    expect(list.map(({ name, _meta }) => [name, _meta])).toEqual([
      ['show', { ui: { resourceUri: 'ui://map' }, 'ui/resourceUri': 'ui://map' }],
      [
        'far_show',
        { ui: { resourceUri: 'ui://far/show' }, 'ui/resourceUri': 'ui://far/show', 'servable/server': 'far' },
      ],
      ['far_zoom', { ui: { visibility: ['app'] }, 'servable/server': 'far' }],
      ['far_plain', { 'servable/server': 'far' }],
    ])
    expect((await served.list()).map(({ name }) => name)).toEqual(['show', 'far_show', 'far_plain'])
    const { contents } = (await served.ask('resources/read', { uri: 'ui://far/show' })).result
    expect(contents[0]).toMatchObject({
      text: '<p>map',
      _meta: { ui: { csp: { resourceDomains: ['https://*.example.com'] } } },
    })
    const { result } = await served.call('far_zoom', {}, { capabilities: SHOWS })
    expect(result.content).toEqual([{ type: 'text', text: 'zoomed' }])
  })
})
