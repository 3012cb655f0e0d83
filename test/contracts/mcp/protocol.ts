/** How the endpoint is spoken to, in each revision. */
import { describe, expect, it } from 'vitest'
import { jsonRequest } from '../http/client.ts'
import type { Server } from '../runs/client.ts'
import { ask, begin, callOf, expectError, LEGACY, MODERN, resultOf, send, told } from './client.ts'

const PREFIX = 'io.modelcontextprotocol/'

/** What the service offers. */
const OFFERED = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
}

/** The extension for pages. */
const PAGES = { [`${PREFIX}ui`]: {} }

export function protocolCases(server: Server): void {
  const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })

  describe('revision 2026-07-28', () => {
    it('is found out about by a request of its own', async () => {
      const { ttlMs, cacheScope, ...found } = await resultOf(server, 'server/discover')
      expect(found).toEqual({
        resultType: 'complete',
        supportedVersions: [MODERN],
        capabilities: { ...OFFERED, extensions: { [`${PREFIX}tasks`]: {}, ...PAGES } },
        instructions: 'Ask for one thing at a time',
        _meta: { [`${PREFIX}serverInfo`]: { name: 'contract', version: '7' } },
      })
      expect([ttlMs > 0, cacheScope]).toEqual([true, 'public'])
      const { cacheScope: own } = await resultOf(
        server,
        'tools/list',
        {},
        { headers: { 'x-test-user': 'ann' } },
      )
      expect(own).toBe('private')
    })

    it('has its headers checked', async () => {
      const mismatch = [400, -32020] as const
      const params = callOf('thinks')
      for (const headers of [
        { 'mcp-method': 'tools/list' },
        { 'mcp-method': '' },
        { 'mcp-name': 'looks' },
        { 'mcp-name': '' },
        { 'mcp-name': '=?base64?b?=' },
        { 'mcp-protocol-version': '2025-11-25' },
      ])
        expectError(await told(ask(server, 'tools/call', params, { headers })), mismatch)
      const encoded = { 'mcp-name': `=?base64?${btoa('thinks')}?=` }
      expect((await told(ask(server, 'tools/call', params, { headers: encoded }))).json.result).toBeDefined()
      const bare = { 'mcp-protocol-version': MODERN }
      const meta = { [`${PREFIX}protocolVersion`]: MODERN, [`${PREFIX}clientCapabilities`]: {} }
      const body = message('tools/list', { _meta: meta })
      expectError(await told(send(server, body, { headers: bare })), mismatch)
    })

    it('has the header of an argument checked', async () => {
      const params = callOf('repeat-it', { region: 'Köln', count: 1 })
      const asked = (value?: string) =>
        told(ask(server, 'tools/call', params, { headers: value ? { 'mcp-param-region': value } : {} }))
      for (const wrong of [undefined, 'Bonn', '=?base64?Qm9ubg==?='])
        expectError(await asked(wrong), [400, -32020])
      const value = btoa(String.fromCharCode(...new TextEncoder().encode('Köln')))
      expect((await asked(`=?base64?${value}?=`)).json.result.isError).toBeUndefined()
    })

    it('needs `_meta`, and its own number in it', async () => {
      const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
      const version = { [`${PREFIX}protocolVersion`]: MODERN }
      for (const _meta of [undefined, {}, version, { ...version, [`${PREFIX}clientCapabilities`]: 1 }])
        expectError(await told(send(server, message('tools/list', { _meta }), { headers })), [400, -32602])
      const later = { 'mcp-protocol-version': '2099-01-01' }
      const meta = { [`${PREFIX}protocolVersion`]: '2099-01-01' }
      const refused = await told(ask(server, 'tools/list', {}, { headers: later, meta }))
      expect(expectError(refused, [400, -32022]).data).toEqual({
        supported: [MODERN],
        requested: '2099-01-01',
      })
    })

    it('has neither what others have, nor what is unknown', async () => {
      for (const method of ['ping', 'initialize', 'resources/subscribe', 'toString', 'logging/setLevel'])
        expectError(await told(ask(server, method, {}, { id: 'id of mine' })), [404, -32601], 'id of mine')
      for (const cursor of ['x', '-1', '1e3', 7])
        expectError(await told(ask(server, 'tools/list', { cursor })), [200, -32602])
    })
  })

  describe.each(LEGACY)('revision %s', revision => {
    it('begins, lists, calls and is pinged', async () => {
      const session = await begin(server, revision)
      const of = async (method: string, params?: object) =>
        (await told(session.ask(method, params))).json.result
      expect(await of('ping')).toEqual({})
      const { tools, ...rest } = await of('tools/list')
      expect([tools[0].name, rest]).toEqual(['thinks', {}])
      const result = await of('tools/call', callOf('thinks'))
      expect(result.content).toEqual([{ type: 'text', text: 'Here it is.' }])
      expect(result).not.toHaveProperty('resultType')
      for (const method of ['tasks/get', 'tasks/list', 'subscriptions/listen'])
        expectError(await told(session.ask(method)), [200, -32601])
      expectError(await told(session.ask('tools/call', callOf('nobody'))), [200, -32602])
    })
  })

  describe('any revision', () => {
    it('begins with one that is known', async () => {
      const begun = async (protocolVersion: unknown) => {
        const { json } = await told(
          send(server, message('initialize', { protocolVersion, capabilities: {} })),
        )
        return json.result
      }
      expect(await begun('2099-01-01')).toEqual({
        protocolVersion: LEGACY[0],
        capabilities: { ...OFFERED, logging: {}, extensions: PAGES },
        serverInfo: { name: 'contract', version: '7' },
        instructions: 'Ask for one thing at a time',
      })
      expect((await begun(undefined)).protocolVersion).toBe(LEGACY[0])
      expect((await begun('2025-06-18')).protocolVersion).toBe('2025-06-18')
    })

    it('takes notifications, and answers of clients that nobody has asked', async () => {
      const nobody = `${crypto.randomUUID()}.${'0'.repeat(64)}/size`
      for (const body of [
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
        { jsonrpc: '2.0', method: 'notifications/no-such-thing' },
        { jsonrpc: '2.0', id: 'x', result: {} },
        { jsonrpc: '2.0', id: nobody, result: { action: 'accept' } },
        { jsonrpc: '2.0', id: nobody, error: { code: -1, message: 'no' } },
      ]) {
        const answer = await send(server, body)
        expect([answer.status, await answer.text()]).toEqual([202, ''])
      }
    })

    it('has nothing but POST, and GET of a session', async () => {
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const headers = { accept: 'text/event-stream' }
        const answer = await told(fetch(`${server().url}/mcp`, { method, headers }))
        expectError(answer, [405, -32000], null)
        expect(answer.headers.get('allow')?.split(/, ?/)).toEqual(expect.arrayContaining(['POST']))
        expect(answer.headers.get('allow')).not.toMatch(/DELETE|PUT/)
      }
    })

    it('has nothing below its path', async () => {
      for (const path of ['mcp/thinks', 'mcp/thinks/x', 'mcp/sse']) {
        const body = { ...message('ping') }
        const options = jsonRequest(body)
        const answer = await told(fetch(`${server().url}/${path}`, options))
        expect(answer.status, answer.text).toBe(404)
      }
    })

    it('has bodies that are one message of JSON', async () => {
      const plain = (body: string, headers: Record<string, string> = {}) =>
        told(
          fetch(`${server().url}/mcp`, {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/json', ...headers },
          }),
        )
      for (const body of ['{', '', '{"jsonrpc":"2.0"', '\u0000'])
        expectError(await plain(body), [400, -32700], null)
      for (const body of [
        [message('ping')],
        [],
        1,
        null,
        'ping',
        {},
        { ...message('ping'), jsonrpc: '1.0' },
        { ...message('ping'), params: [] },
        { ...message('ping'), method: 7 },
      ])
        expectError(await plain(JSON.stringify(body)), [400, -32600], null)
      expectError(await plain('{}', { 'content-type': 'text/plain' }), [415, -32000], null)
    })
  })
}
