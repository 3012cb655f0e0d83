/**
 * Converts the result of a run to the result of a tool (MCP, tools, tool result).
 *
 * @module
 */

import type { ContentPart, RunResult } from '../../agents/contract.ts'
import { isObject } from '../../base/validation.ts'
import { ANY, isAddress } from '../encoders/parts.ts'
import type { Offered } from './offer.ts'
import type { McpPart, McpRequest } from './request.ts'
import { type Fields, INTERNAL_ERROR, RpcError } from './rpc.ts'
import type { CallOutcome } from './run-reader.ts'

/** The result of a call, without its envelope. */
export interface ToolResult {
  readonly content: readonly object[]
  readonly structuredContent?: object
  readonly isError?: true
}

/** A result that is one text. */
export function textResult(text: string): ToolResult {
  return { content: [textBlock(text)] }
}

/** A failure that the client's model may correct or report. */
export function failed(text: string): ToolResult {
  return { ...textResult(text), isError: true }
}

/** The member of `structured` with the value that a tool returned, in a run that only calls this tool. */
export const RETURNED = 'servable/returned'

/**
 * The text or structured output of a run, and its artifacts. `base` is the address of the service, for files that it stores. With a
 * page, the structured output is for the page, so the text stays.
 */
export function resultOf(
  { text, structured, artifacts = [], runId }: RunResult,
  base: string,
  hasPage = false,
): ToolResult {
  if (structured && RETURNED in structured) return returned(structured[RETURNED])
  const made = artifacts.flatMap(({ parts }) => parts)
  return {
    content: [
      // Text beside structured output is left out, as in all other transports.
      ...(structured && !(hasPage && text)
        ? [textBlock(JSON.stringify(structured))]
        : text
          ? [textBlock(text)]
          : []),
      ...made.map((part, at) => blockOf(part, `urn:servable:run:${runId}:${at}`, base)),
    ],
    ...(structured && isObject(structured) && { structuredContent: structured }),
  }
}

/** The value that a tool returned: content of MCP as it is, text, or JSON. Other members of a result are ignored. */
function returned(value: unknown): ToolResult {
  if (typeof value === 'string') return textResult(value)
  if (isContent(value)) return { content: value }
  const { content, structuredContent, isError } = Object(value) as Fields
  if (isContent(content))
    return {
      content,
      ...(isObject(structuredContent) && { structuredContent }),
      ...(isError === true && { isError }),
    }
  return {
    ...textResult(JSON.stringify(value) ?? 'null'),
    ...(isObject(value) && { structuredContent: value }),
  }
}

/** The text members that each type of block must have. */
const BLOCKS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['image', 'data mimeType'],
  ['audio', 'data mimeType'],
  ['resource_link', 'uri name'],
])

function isContent(value: unknown): value is object[] {
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

/** Whether a value is a valid block. A client refuses a result with any other block. */
function isBlock(block: unknown): boolean {
  const { type, resource } = Object(block) as Fields
  if (type === 'resource') return hasTexts(resource, 'uri text') || hasTexts(resource, 'uri blob')
  const names = BLOCKS.get(type)
  return names !== undefined && hasTexts(block, names)
}

function hasTexts(value: unknown, names: string): boolean {
  return names.split(' ').every(name => typeof Object(value)[name] === 'string')
}

function textBlock(text: string): Fields {
  return { type: 'text', text }
}

function blockOf(part: ContentPart, uri: string, base: string): Fields {
  if (part.type === 'text') return textBlock(part.text)
  if (part.type === 'data') return textBlock(JSON.stringify(part.data) ?? '')
  const { type, data, mimeType = ANY } = part
  const name = 'filename' in part ? part.filename : undefined
  const blob = isAddress(data)
    ? /^data:[^,]{0,500};base64,/i.test(data) && data.slice(data.indexOf(',') + 1)
    : data
  if (blob === false)
    return { type: 'resource_link', uri: addressOf(data, base), name: name ?? type, mimeType }
  if (type !== 'file') return { type, data: blob, mimeType }
  const path = name === undefined ? '' : `/${name.replace(/[^\w.-]/g, '_')}`
  return { type: 'resource', resource: { uri: uri + path, mimeType, blob } }
}

function addressOf(address: string, base: string): string {
  return URL.canParse(address, base) ? new URL(address, base).href : address
}

/** Codes of failures of the service. All other failures are results, because the client's model may correct or report them. */
const OURS = /^(internal_error|interrupted|invalid_event)$/

/** The result of a run that has ended. Throws an {@link RpcError} for a failure of the service. */
export async function endOf(
  outcome: CallOutcome,
  { tool, ...rpc }: McpRequest & { readonly tool: Offered },
  offers: readonly McpPart[],
): Promise<ToolResult & { readonly _meta?: object }> {
  const { request, core } = rpc
  const { publicUrl = request.url } = core
  if ('error' in outcome) {
    const { code, error } = outcome.error
    if (OURS.test(code)) throw new RpcError(INTERNAL_ERROR, error, 200, { code })
    return failed(error)
  }
  const { finishReason, runId, structured } = outcome.result
  if (finishReason === 'cancelled') return failed('The run was cancelled')
  const result = resultOf(outcome.result, publicUrl, tool.page !== undefined)
  const linked = offers.find(each => each.linked)?.linked
  const content = linked
    ? await Promise.all(result.content.map(block => linked(rpc, block as Fields)))
    : result.content
  // A client refuses a result without the structured content that was promised.
  const isShort = structured === null && tool.outputSchema
  const hasFailed = isShort || /^(rejected|auth_required)$/.test(finishReason)
  return { ...result, content, ...(hasFailed && { isError: true }), _meta: { 'servable/runId': runId } }
}
