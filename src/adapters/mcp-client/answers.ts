/**
 * Reads answers and errors of a tool server.
 *
 * @module
 */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { ServableError } from '../../base/errors.ts'

/** A lost session is a 404 (MCP, Streamable HTTP, session management). Some servers send an error text instead. */
export function isSessionLost(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404
  return error instanceof ProtocolError && error.code === -32001 && /session/i.test(error.message)
}

/** Whether the answer is not JSON, or not a message of the protocol. */
export function isNoMessage(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.InvalidResult
  return error instanceof SyntaxError || (error instanceof Error && 'issues' in error)
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

/** Most characters of a tool's error text. */
const MAX_ERROR = 2000

/**
 * The result of a tool (MCP, `tools/call`): its structured content if it has any, otherwise its text if all content is text,
 * otherwise its content. Throws `tool_failed` if the tool reports an error.
 */
export function resultOf(answer: unknown): unknown {
  const { content, structuredContent, isError } = Object(answer) as Record<string, unknown>
  const parts = Array.isArray(content) ? content : []
  const texts = parts.flatMap(part => (part?.type === 'text' ? [String(part.text)] : []))
  if (isError === true) {
    throw new ServableError('tool_failed', texts.join('\n').slice(0, MAX_ERROR) || 'The tool failed')
  }
  if (structuredContent !== undefined) return structuredContent
  return texts.length === parts.length ? texts.join('\n') : parts
}
