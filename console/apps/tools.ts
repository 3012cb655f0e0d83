/**
 * Calls tools for a page, at the service's own endpoint of MCP and with the rights of the user. A tool that needs an approval waits
 * for it in the inbox.
 *
 * @module
 */

import { ask, config } from '../service.ts'

type Fields = Readonly<Record<string, unknown>>

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  },
}

/** Most pages of the list of tools that are read. */
const MAX_PAGES = 20

/** Whether pages can call tools here. */
export const hasTools = (): boolean => config.value.links.mcp !== undefined

async function rpc(method: string, params: Fields, signal: AbortSignal): Promise<Fields> {
  const headers = {
    'content-type': 'application/json',
    // An answer in JSON, however long it takes.
    accept: 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } })
  const path = config.value.links.mcp ?? ''
  const { result, error } = await ask<Fields>(path, { method: 'POST', headers, body, signal })
  if (error !== undefined) throw new Error(String(Object(error).message))
  return Object(result) as Fields
}

/** A tool as the list has it. */
interface Listed {
  readonly name: string
  readonly _meta?: {
    readonly ui?: { readonly visibility?: readonly string[] }
    readonly 'servable/server'?: string
  }
}

/**
 * Calls a tool that says it is for pages, and that is of the same server as the page: of the service itself, or of one of its tool
 * servers. Throws if there is none.
 */
export async function callForPage(
  server: string | null,
  { name, arguments: args = {} }: Fields,
  signal: AbortSignal,
): Promise<object> {
  const wanted = server === null ? name : `${server}_${String(name)}`.replace(/[^\w-]/g, '_').slice(0, 64)
  const isIt = (tool: Listed) => {
    const { ui, 'servable/server': of = null } = tool._meta ?? {}
    return tool.name === wanted && of === server && ui?.visibility?.includes('app') === true
  }
  let params: Fields = {}
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { tools, nextCursor } = await rpc('tools/list', params, signal)
    const found = (tools as readonly Listed[]).find(isIt)
    if (found !== undefined) {
      const { content, structuredContent, isError } = await rpc(
        'tools/call',
        { name: found.name, arguments: args },
        signal,
      )
      return { content: content ?? [], structuredContent, isError }
    }
    if (typeof nextCursor !== 'string') break
    params = { cursor: nextCursor }
  }
  throw new Error('There is no tool of this name for pages')
}
