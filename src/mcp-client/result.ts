import { ServableError } from '../errors.ts'

/** Most characters of a tool's own words about its failure. */
const MAX_ERROR = 2000

/**
 * What a tool gave (MCP, `tools/call`): its structured content where it has any, else its text where there is nothing but
 * text, else its content. Throws `tool_failed` where the tool says so.
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
