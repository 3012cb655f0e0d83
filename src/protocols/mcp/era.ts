/**
 * The two eras of MCP on one endpoint: revision 2026-07-28, whose requests contain everything that they need, and the revisions
 * before it, whose sessions begin with `initialize`.
 *
 * @module
 */

import { PAGE_TYPE } from '../../agents/app-page.ts'
import { isObject } from '../../base/validation.ts'
import { fromBase64 } from '../../web/base64.ts'
import {
  type Fields,
  HEADER_MISMATCH,
  INVALID_PARAMS,
  RpcError,
  type RpcMessage,
  UNSUPPORTED_VERSION,
} from './rpc.ts'

/** The revision without `initialize`. */
export const MODERN = '2026-07-28'

/** The revisions before it, newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']

const PREFIX = 'io.modelcontextprotocol/'

/** Makes a name of the protocol's own in `_meta`. */
export const own = (name: string): string => PREFIX + name

/** The extension for pages (MCP Apps). */
export const PAGES: string = own('ui')

/** Whether a client shows pages. */
export function showsPages({ extensions }: Fields): boolean {
  const { [PAGES]: apps } = Object(extensions) as Fields
  const { mimeTypes } = Object(apps)
  return (
    isObject(apps) && (mimeTypes === undefined || (Array.isArray(mimeTypes) && mimeTypes.includes(PAGE_TYPE)))
  )
}

/** The `_meta` of a request's parameters. */
export function metaOf({ _meta: meta }: Fields): Fields {
  return Object(meta) as Fields
}

/**
 * The capabilities of the client, if the request is of 2026-07-28. Undefined for a request of an earlier revision. Checks the
 * headers that repeat parts of the body (Streamable HTTP, standard headers). Throws an {@link RpcError}.
 */
export function capabilitiesOf(
  { headers }: Request,
  { method, params }: Pick<RpcMessage, 'method' | 'params'>,
): Fields | undefined {
  const { [own('protocolVersion')]: version, [own('clientCapabilities')]: capabilities } = metaOf(params)
  const named = headers.get('mcp-protocol-version')
  const isLegacy = named === null ? method !== 'server/discover' : LEGACY.includes(named)
  if (isLegacy && version === undefined) return undefined
  if (typeof version !== 'string' || !isObject(capabilities))
    throw new RpcError(
      INVALID_PARAMS,
      `\`params._meta\` must have \`${own('protocolVersion')}\` and \`${own('clientCapabilities')}\``,
    )
  checkHeader(headers, 'MCP-Protocol-Version', version)
  if (version !== MODERN)
    throw new RpcError(UNSUPPORTED_VERSION, `The revision must be ${MODERN}`, 400, {
      supported: [MODERN],
      requested: version,
    })
  checkHeader(headers, 'Mcp-Method', method)
  return capabilities
}

/** Throws an {@link RpcError} unless a header repeats a value of the body. */
export function checkHeader(headers: Headers, name: string, value: unknown): void {
  const isShort = value !== undefined && Object(value) !== value
  if (isShort && decoded(headers.get(name)) === String(value)) return
  throw new RpcError(HEADER_MISMATCH, `The header \`${name}\` must repeat what the body says`)
}

/** Checks the headers of arguments that a schema marks with `x-mcp-header`. Throws an {@link RpcError}. */
export function checkParamHeaders(headers: Headers, { properties }: Fields, args: Fields): void {
  for (const [name, property] of Object.entries(Object(properties))) {
    const { 'x-mcp-header': header } = Object(property)
    const value = (Object.hasOwn(args, name) ? args[name] : null) ?? undefined
    if (typeof header === 'string' && (value !== undefined || headers.has(`Mcp-Param-${header}`)))
      checkHeader(headers, `Mcp-Param-${header}`, value)
  }
}

/** The value of a header. Text that a header cannot contain is encoded as base64 (Streamable HTTP, value encoding). */
function decoded(value: string | null): string | undefined {
  const [, text] = /^=\?base64\?(.*)\?=$/.exec(value ?? '') ?? []
  if (text === undefined) return value ?? undefined
  const bytes = text.length % 4 === 0 ? fromBase64(text) : undefined
  return bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
