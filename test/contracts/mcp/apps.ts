/** Pages of tools, for clients that show them and for others. */
import { describe, expect, it } from 'vitest'
import type { Server } from '../runs/client.ts'
import { MAP } from './agents.ts'
import { ask, begin, call, expectError, type Json, LEGACY, resultOf, told } from './client.ts'

const SHOWS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }
const OTHERS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/x-other'] } } }

const PAGE = {
  uri: 'ui://maps',
  mimeType: 'text/html;profile=mcp-app',
  text: MAP,
  _meta: { ui: { csp: { connectDomains: ['https://tiles.example.com'] } } },
}

export function appCases(server: Server): void {
  const named = (tools: readonly Json[], wanted: string) => tools.find(({ name }) => name === wanted)

  describe.concurrent('pages', () => {
    it('are named by their tools, and read', async () => {
      const { tools } = await resultOf(server, 'tools/list', {}, { can: SHOWS })
      const ui = { resourceUri: 'ui://maps' }
      expect(named(tools, 'maps')._meta).toEqual({ ui, 'ui/resourceUri': 'ui://maps' })
      expect(named(tools, 'zoom')._meta).toEqual({ ui: { visibility: ['app'] } })
      expect(named(tools, 'multiply')).not.toHaveProperty('_meta')
      const { contents } = await resultOf(server, 'resources/read', { uri: 'ui://maps' }, { can: SHOWS })
      expect(contents).toEqual([PAGE])
      const { resources } = await resultOf(server, 'resources/list', {}, { can: SHOWS })
      expect(resources[0]).toEqual({ uri: PAGE.uri, name: 'maps', mimeType: PAGE.mimeType })
      expect(resources.map(({ uri }: Json) => uri)).toContain('words://all')
      const unknown = await told(ask(server, 'resources/read', { uri: 'ui://nothing' }, { can: SHOWS }))
      expect(expectError(unknown, [200, -32602]).data).toEqual({ uri: 'ui://nothing' })
    })

    it('get the structured content, and the text stands alone', async () => {
      for (const can of [SHOWS, {}]) {
        const { content, structuredContent } = await call(server, 'maps', 'Oslo', { can })
        expect(content).toEqual([{ type: 'text', text: 'A map of Oslo' }])
        expect(structuredContent).toEqual({ place: 'Oslo' })
      }
    })

    it('call tools that no model is shown', async () => {
      for (const can of [{}, OTHERS]) {
        const { tools } = await resultOf(server, 'tools/list', {}, { can })
        expect(named(tools, 'zoom')).toBeUndefined()
        expect(named(tools, 'maps')).toBeDefined()
      }
      const { content } = await call(server, 'zoom', {}, { can: SHOWS })
      expect(content).toEqual([{ type: 'text', text: 'Zoomed in' }])
    })

    it.each(LEGACY)('are the same in the revision %s', async revision => {
      const of = async (can: object, method: string, params: object = {}) => {
        const session = await begin(server, revision, can)
        const { json, text } = await told(session.ask(method, params))
        expect(json.result, text).toBeDefined()
        return json.result
      }
      const { tools } = await of({ ...SHOWS, elicitation: { form: {} } }, 'tools/list')
      expect(named(tools, 'zoom')._meta).toEqual({ ui: { visibility: ['app'] } })
      expect(named((await of({}, 'tools/list')).tools, 'zoom')).toBeUndefined()
      const { contents } = await of(SHOWS, 'resources/read', { uri: 'ui://maps' })
      expect(contents).toEqual([PAGE])
      const result = await of({}, 'tools/call', { name: 'maps', arguments: { input: 'Oslo' } })
      expect(result.content).toEqual([{ type: 'text', text: 'A map of Oslo' }])
    })
  })
}
