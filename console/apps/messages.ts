/**
 * Checks what a page in a frame sends (MCP Apps, communication protocol). It is a stranger's: its messages have a form, a size and a
 * number.
 *
 * @module
 */

type Fields = Readonly<Record<string, unknown>>

/** A request of a page, or with no `id` a notification. */
export interface FromPage {
  readonly id?: string | number
  readonly method: string
  readonly params: Fields
}

/** Most characters and values of a message, with the names in it. */
const MAX_SIZE = 256 * 1024

/** Most messages in a window of time. Further ones are not read, and after so many the frame is closed. */
const WINDOW_MS = 10_000
const MAX_MESSAGES = 100
const MAX_FLOOD = 2000

const isPlain = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The values in a value, and the names of its members. Undefined if it is no JSON. */
function partsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (isPlain(value)) return Object.entries(value).flat()
  const isJson = value === null || /^(string|boolean|undefined)$/.test(typeof value) || Number.isFinite(value)
  return isJson ? [] : undefined
}

/** Whether a value is JSON within the limit. It stops there, so neither size nor a circle costs more. */
export function isSmall(value: unknown): boolean {
  const open: unknown[] = [value]
  for (let size = 0; open.length > 0; ) {
    const next = open.pop()
    const parts = partsOf(next)
    if (parts === undefined) return false
    size += 1 + (typeof next === 'string' ? next.length : parts.length)
    if (size > MAX_SIZE) return false
    for (const each of parts) open.push(each)
  }
  return true
}

/** The message in what came from the window of a frame. Undefined for anything else. */
export function messageIn(data: unknown): FromPage | undefined {
  if (!isPlain(data) || data.jsonrpc !== '2.0' || !isSmall(data)) return undefined
  const { id, method, params = {} } = data
  const isId = id === undefined || (typeof id === 'string' && id.length <= 100) || Number.isSafeInteger(id)
  if (!isId || typeof method !== 'string' || method.length > 100 || !isPlain(params)) return undefined
  return { ...(id !== undefined && { id: id as string | number }), method, params }
}

/** Counts the messages of a page. */
export class Flow {
  #since = Number.NEGATIVE_INFINITY
  #count = 0

  /** Whether one more is read, left out, or one too many for the frame. */
  take(now: number): 'read' | 'skip' | 'close' {
    if (now - this.#since > WINDOW_MS) {
      this.#since = now
      this.#count = 0
    }
    this.#count++
    return this.#count <= MAX_MESSAGES ? 'read' : this.#count <= MAX_FLOOD ? 'skip' : 'close'
  }
}

/** Most characters of an address that a page may open, and of a message that it may write. */
const MAX_ADDRESS = 2000
const MAX_TEXT = 10_000

/** The address that a page wants to open. Undefined unless a browser opens it as a page of another server or of this one. */
export function addressIn({ url }: Fields): string | undefined {
  if (typeof url !== 'string' || url.length > MAX_ADDRESS || !URL.canParse(url)) return undefined
  const { protocol, username, password, href } = new URL(url)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : undefined
}

/** The text that a page writes for its user. Undefined if there is other content, or too much. */
export function textIn({ role, content }: Fields): string | undefined {
  if (role !== 'user' || !Array.isArray(content) || content.length === 0) return undefined
  const texts = content.map(part => (isPlain(part) && part.type === 'text' ? part.text : undefined))
  const text = texts.every(each => typeof each === 'string') ? texts.join('\n') : ''
  return text.trim() !== '' && text.length <= MAX_TEXT ? text : undefined
}

/** The result of a tool as pages get it (MCP, `CallToolResult`). */
export function resultFor(value: unknown): object {
  const { content, structuredContent } = Object(value) as Fields
  if (Array.isArray(content)) return { content, ...(isPlain(structuredContent) && { structuredContent }) }
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] }
  const text = JSON.stringify(value) ?? 'null'
  return { content: [{ type: 'text', text }], ...(isPlain(value) && { structuredContent: value }) }
}

/** The address of the empty frame for a page. Origins with the host of the service are left out, in every form. */
export function frameAddress(
  base: string,
  { connectDomains = [], resourceDomains = [], frameDomains = [] }: Origins,
): string {
  const address = new URL(`${base}/console/frame`)
  const add = (name: string, origins: readonly string[]) => {
    for (const origin of origins) if (!isOwn(origin, address)) address.searchParams.append(name, origin)
  }
  add('connect', connectDomains)
  add('resource', resourceDomains)
  add('frame', frameDomains)
  return address.href
}

/** What a page may reach. */
export interface Origins {
  readonly connectDomains?: readonly string[] | undefined
  readonly resourceDomains?: readonly string[] | undefined
  readonly frameDomains?: readonly string[] | undefined
}

/** Whether an origin of a policy has the host and the port of the service. The usual ports of http and https are one. */
function isOwn(origin: string, { hostname, port }: URL): boolean {
  const [, wildcard, host = '', given = ''] =
    /^\w+:\/\/(\*\.)?([^:]+)(?::(\d+))?$/.exec(origin.toLowerCase()) ?? []
  const isHost = wildcard === undefined ? host === hostname : hostname.endsWith(`.${host}`)
  const usual = (each: string) => (/^(80|443|)$/.test(each) ? '' : each)
  return isHost && usual(given) === usual(port)
}
