/**
 * Pages of tools (MCP Apps, revision 2026-01-26): the same on the wire in all revisions.
 *
 * @module
 */

import { isForModels, PAGE_TYPE } from '../../agents/app-page.ts'
import { PAGES, showsPages } from './era.ts'
import type { Offered } from './offer.ts'
import { PRIVATE, page } from './part.ts'
import type { McpPart, McpRequest, Method } from './request.ts'
import { notFound } from './resources.ts'
import type { Fields } from './rpc.ts'
import { METHOD_NOT_FOUND, RpcError } from './rpc.ts'

/** The tools on offer, and how clients are known that show pages. */
interface Pages {
  list(): Promise<readonly Offered[]>
  /** Whether the session of a request said at its beginning that its client shows pages. */
  showsPages(request: Request): boolean
}

/** The tools that a client may see: those that only pages call are for clients that show pages. */
export function shownTo(
  { capabilities, request }: McpRequest,
  tools: readonly Offered[],
  sessions: Pick<Pages, 'showsPages'>,
): readonly Offered[] {
  const isApp = capabilities === undefined ? sessions.showsPages(request) : showsPages(capabilities)
  return isApp ? tools : tools.filter(isForModels)
}

/** What a service announces, if it has pages now. */
export async function announced(list: Pages['list'], others: Fields): Promise<Fields> {
  if (!(await list()).some(({ page }) => page)) return others
  return {
    resources: {},
    ...others,
    extensions: { ...Object(others.extensions), [PAGES]: {} },
  }
}

/** The methods for resources, with the pages before the resources that there are besides. */
export function withPages(
  list: Pages['list'],
  resources: McpPart | undefined,
): Readonly<Record<string, Method>> {
  const { methods = {}, watched } = resources ?? {}
  const pages = async () => {
    const found = new Map((await list()).flatMap(tool => (tool.page ? [[tool.page.uri, tool] as const] : [])))
    if (found.size > 0 || resources) return found
    throw new RpcError(METHOD_NOT_FOUND, 'There is no such method', 200)
  }
  const entryOf = ([uri, { name, title }]: readonly [string, Offered]) => ({
    uri,
    name,
    title,
    mimeType: PAGE_TYPE,
  })
  return {
    ...methods,
    async 'resources/list'(rpc, parts) {
      const own = [...(await pages())].map(entryOf)
      const others = (await watched?.lists.resourcesListChanged?.(rpc, parts)) ?? []
      return { ...page('resources', [...own, ...others], rpc), ...PRIVATE }
    },
    async 'resources/templates/list'(rpc, parts) {
      await pages()
      return methods['resources/templates/list']?.(rpc, parts) ?? { resourceTemplates: [], ...PRIVATE }
    },
    async 'resources/read'(rpc, parts) {
      const { uri } = rpc.params
      const tool = (await pages()).get(String(uri))
      const content = await tool?.page?.read(rpc.request.signal)
      if (content !== undefined) {
        const { html: text, csp, prefersBorder } = content
        const contents = [{ uri, mimeType: PAGE_TYPE, text, _meta: { ui: { csp, prefersBorder } } }]
        return { contents, ...PRIVATE, ttlMs: 0 }
      }
      const read = methods['resources/read']
      if (read === undefined) throw notFound(rpc, uri)
      return read(rpc, parts)
    },
  }
}
