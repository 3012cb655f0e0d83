import { ServableError } from '../../base/errors.ts'

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
