/**
 * Pages of agents and tools for the Chat (MCP Apps). A page runs in a frame whose origin is its own, and whose policy comes with a
 * header, so that no page can loosen it. The frame itself is empty and open to all: the console gives it the HTML with a message.
 *
 * @module
 */

import { type AppPage, lookIn, type PageContent } from '../../agents/app-page.ts'
import { defaultRegistry } from '../../agents/registry.ts'
import { serverPage } from '../../agents/server-page.ts'

/** A page with its HTML. `server`: the tool server that it is of. */
export interface ShownPage extends PageContent {
  readonly server: string | null
}

/** The most tools of an agent or a team that are looked at. */
const MAX_TOOLS = 1000

interface Paged {
  readonly name?: unknown
  readonly page?: AppPage | undefined
}

/** The tools of an agent, or of the members of a team. Those of another framework may be anything. */
function toolsIn(servable: object): readonly Paged[] {
  const { tools, members } = servable as { readonly tools?: unknown; readonly members?: unknown }
  const of = (owner: unknown): readonly unknown[] => {
    const list: unknown = Object(owner).tools
    return Array.isArray(list) ? list : []
  }
  const inner = Array.isArray(members) ? members.flatMap(of) : []
  return [...of({ tools }), ...inner].slice(0, MAX_TOOLS).filter(each => Object(each) === each) as Paged[]
}

const hasPage = ({ page }: Paged): boolean => typeof Object(page).read === 'function'

/** The names of the tools that have pages; null is the agent itself. */
export function pageNamesOf(servable: object): readonly (string | null)[] {
  const names = toolsIn(servable).flatMap(tool =>
    hasPage(tool) && typeof tool.name === 'string' ? [tool.name] : [],
  )
  return [...(hasPage(servable) ? [null] : []), ...new Set(names)]
}

/** The page of an agent, or of the tool that the address names. `{ page: null }` if there is none. */
export async function contentOf(
  servable: object,
  { url, signal }: Request,
): Promise<{ readonly page: ShownPage | null }> {
  const tool = new URL(url).searchParams.get('tool')
  const { page } = (tool === null ? servable : ofTool(servable, tool)) as Paged
  const content = await page?.read?.(signal)
  if (page === undefined || content === undefined) return { page: null }
  const { html } = content
  return { page: { html, ...lookIn(content), server: page.server ?? null } }
}

/** A tool that an agent has, or that its function takes from the tool servers of the process. */
function ofTool(servable: object, name: string): Paged {
  const known = toolsIn(servable).find(tool => tool.name === name)
  const { toolServers } = defaultRegistry()
  if (known !== undefined || toolServers === undefined || !name.includes('.')) return known ?? {}
  try {
    const { servers } = toolServers
    return { page: serverPage(() => servers, name) }
  } catch {
    // No handler has the tool servers yet.
    return {}
  }
}

/** Waits for the HTML, which only the window around it may send, and becomes it. The policy of the answer stays. */
const FRAME = `<!doctype html>
<meta charset="utf-8">
<script>
addEventListener('message', function take({ source, data }) {
  if (source !== parent || parent === self || data?.method !== 'ui/notifications/sandbox-resource-ready') return
  removeEventListener('message', take)
  document.open()
  document.write(data.params.html)
  document.close()
})
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')
</script>
`

/** The empty frame for a page. The address names the origins that the page may reach: `connect`, `resource` and `frame`. */
export function frameOf({ url }: Request): Response {
  const { searchParams } = new URL(url)
  const { csp = {} } = lookIn({
    csp: {
      connectDomains: searchParams.getAll('connect'),
      resourceDomains: searchParams.getAll('resource'),
      frameDomains: searchParams.getAll('frame'),
    },
  })
  const of = (origins: readonly string[] = []) => (origins.length > 0 ? origins.join(' ') : "'none'")
  const loaded = (csp.resourceDomains ?? []).map(each => ` ${each}`).join('')
  const policy = [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src 'unsafe-inline'${loaded}`,
    `style-src 'unsafe-inline'${loaded}`,
    `img-src data: blob:${loaded}`,
    `font-src data:${loaded}`,
    `media-src data: blob:${loaded}`,
    `connect-src ${of(csp.connectDomains)}`,
    `frame-src ${of(csp.frameDomains)}`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ]
  return new Response(FRAME, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
      'cache-control': 'no-cache',
    },
  })
}
