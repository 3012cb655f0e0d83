/**
 * The result of a run as the result of a tool (MCP, tools, tool result).
 *
 * @module
 */

import type { ContentPart, RunResult } from '../agents/contract.ts'
import { ANY, isAddress } from '../encoders/parts.ts'
import { isObject } from '../validation.ts'
import type { Fields } from './rpc.ts'

/** The result of a call, without its envelope. */
export interface ToolResult {
  readonly content: readonly object[]
  readonly structuredContent?: object
  readonly isError?: true
}

/** A text as the whole of a result. */
export function textResult(text: string): ToolResult {
  return { content: [textBlock(text)] }
}

/** A failure that the model of the client may mend, or tell of. */
export function failed(text: string): ToolResult {
  return { ...textResult(text), isError: true }
}

/** The member of `structured` that holds what a tool has returned, where a run is no more than its call. */
export const RETURNED = 'servable/returned'

/** What a run has said, and what it has made. `base` is the address of the service, for files that it stores. */
export function resultOf({ text, structured, artifacts = [], runId }: RunResult, base: string): ToolResult {
  if (structured && RETURNED in structured) return returned(structured[RETURNED])
  const made = artifacts.flatMap(({ parts }) => parts)
  return {
    content: [
      // What is said beside the structured output is left out, as in every answer of it.
      ...(structured ? [textBlock(JSON.stringify(structured))] : text ? [textBlock(text)] : []),
      ...made.map((part, at) => blockOf(part, `urn:servable:run:${runId}:${at}`, base)),
    ],
    ...(structured && isObject(structured) && { structuredContent: structured }),
  }
}

/** What a tool has returned: content of MCP as it is, text, or JSON. */
function returned(value: unknown): ToolResult {
  if (typeof value === 'string') return textResult(value)
  if (isContent(value)) return { content: value }
  if (isObject(value) && isContent(value.content)) return value as unknown as ToolResult
  return { ...textResult(JSON.stringify(value)), ...(isObject(value) && { structuredContent: value }) }
}

const BLOCKS = /^(text|image|audio|resource|resource_link)$/

function isContent(value: unknown): value is object[] {
  return Array.isArray(value) && value.length > 0 && value.every(block => BLOCKS.test(Object(block).type))
}

function textBlock(text: string): Fields {
  return { type: 'text', text }
}

function blockOf(part: ContentPart, uri: string, base: string): Fields {
  if (part.type === 'text') return textBlock(part.text)
  if (part.type === 'data') return textBlock(JSON.stringify(part.data) ?? '')
  const { type, data, mimeType = ANY } = part
  const name = 'filename' in part ? part.filename : undefined
  const blob = isAddress(data) ? /^data:[^,]{0,500},/.test(data) && data.slice(data.indexOf(',') + 1) : data
  if (blob === false)
    return { type: 'resource_link', uri: addressOf(data, base), name: name ?? type, mimeType }
  if (type !== 'file') return { type, data: blob, mimeType }
  const path = name === undefined ? '' : `/${name.replace(/[^\w.-]/g, '_')}`
  return { type: 'resource', resource: { uri: uri + path, mimeType, blob } }
}

function addressOf(address: string, base: string): string {
  return URL.canParse(address, base) ? new URL(address, base).href : address
}
