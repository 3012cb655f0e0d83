/**
 * Pages that show the results of agents and tools (MCP Apps, revision 2026-01-26). Whoever shows one gives it no access to the
 * origin of the service.
 *
 * @module
 */

/** The media type of a page (MCP Apps, UI resource format). */
export const PAGE_TYPE = 'text/html;profile=mcp-app'

/** Most characters of the HTML of a page. */
export const MAX_PAGE: number = 1024 * 1024

/** Most origins of one list. */
export const MAX_ORIGINS = 30

/** What a page may reach beyond itself. Default: nothing (MCP Apps, `McpUiResourceCsp`). */
export interface PageOrigins {
  /** Origins that its scripts may ask, such as `https://api.example.com` or `wss://live.example.com`. */
  readonly connectDomains?: readonly string[] | undefined
  /** Origins of images, scripts, styles, fonts and media, such as `https://*.example.com`. */
  readonly resourceDomains?: readonly string[] | undefined
  /** Origins of frames inside of the page. */
  readonly frameDomains?: readonly string[] | undefined
}

/** How a page is shown. */
export interface PageLook {
  readonly csp?: PageOrigins | undefined
  /** Whether a border around it is wanted. Default: whoever shows it decides. */
  readonly prefersBorder?: boolean | undefined
}

/** The content of a page. */
export interface PageContent extends PageLook {
  readonly html: string
}

/** A page of an agent or a tool. `appPage` makes it. */
export interface AppPage {
  /** Its address: `ui://` and a name. */
  readonly uri: string
  /** The tool server that it is of. */
  readonly server?: string
  /** Reads it. Undefined if there is none. */
  read(signal?: AbortSignal): PageContent | undefined | Promise<PageContent | undefined>
}

/** The addresses of pages. */
export const PAGE_URI: RegExp = /^ui:\/\/[\w.~!$&'()*+,;=:@%/?-]{1,1000}$/

/** Whether a text is the address of a page. */
export const isPageUri = (uri: unknown): uri is string => typeof uri === 'string' && PAGE_URI.test(uri)

/** Hosts of a URL (RFC 3986), with at most one wildcard before them (CSP 3, section 2.3.1). */
const HOST = String.raw`(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){0,20}[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::\d{1,5})?`

/** Origins that scripts may ask. */
export const ASKED: RegExp = new RegExp(`^(?:https?|wss?)://${HOST}$`, 'i')

/** Origins that a document may load from. */
export const LOADED: RegExp = new RegExp(`^https?://${HOST}$`, 'i')

const FORMS: Readonly<Record<keyof PageOrigins, RegExp>> = {
  connectDomains: ASKED,
  resourceDomains: LOADED,
  frameDomains: LOADED,
}

/** How a page is shown, from what a stranger says. What is no origin is left out. */
export function lookIn(ui: unknown): PageLook {
  const { csp, prefersBorder } = Object(ui) as Record<string, unknown>
  const lists = Object.entries(FORMS).flatMap(([name, form]) => {
    const list: unknown = Object(csp)[name]
    const origins = Array.isArray(list) ? list.slice(0, MAX_ORIGINS) : []
    const kept = origins.filter(each => typeof each === 'string' && form.test(each))
    return kept.length > 0 ? [[name, kept]] : []
  })
  return {
    ...(lists.length > 0 && { csp: Object.fromEntries(lists) as PageOrigins }),
    ...(typeof prefersBorder === 'boolean' && { prefersBorder }),
  }
}

/** Who may call a tool: models, or pages of the same server (MCP Apps, `visibility`). */
export type ToolCaller = 'model' | 'app'

/** Whether models may call a tool. */
export function isForModels({
  visibility = ['model'],
}: {
  readonly visibility?: readonly ToolCaller[] | undefined
}): boolean {
  return visibility.includes('model')
}
