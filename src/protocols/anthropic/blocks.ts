/**
 * Reads the blocks of messages.
 *
 * @module
 */

import type { ContentPart, HistoryToolCall } from '../../core-entry.ts'
import { givenIn, isAddress, MAX_PARTS, misfit, partsOfFile } from '../encoders/index.ts'
import type { GivenAnswer } from '../models/answers.ts'
import { type Fields, textIn } from '../models/body.ts'

/** What a message contains. */
export interface Blocks {
  readonly parts: ContentPart[]
  readonly calls: HistoryToolCall[]
  readonly results: ToolResult[]
}

/** The result of a call. */
export interface ToolResult {
  readonly id: string
  readonly content: string | ContentPart[]
  readonly isError: boolean
}

/**
 * Reads a content: text, or an array of blocks. `path` names it. Throws `invalid_body` for anything else, and for an unknown block if
 * the message is new. In earlier messages unknown blocks are left out.
 */
export function blocksIn(content: unknown, path: string, isNew: boolean): Blocks {
  const blocks: Blocks = { parts: [], calls: [], results: [] }
  if (typeof content === 'string') {
    if (content !== '') blocks.parts.push({ type: 'text', text: content })
    return blocks
  }
  const all = content ?? []
  if (!Array.isArray(all) || all.length > MAX_PARTS)
    throw misfit(path, `must be text or at most ${MAX_PARTS} blocks`)
  for (const [at, block] of all.entries()) readBlock(blocks, Object(block), `${path}.${at}`, isNew)
  return blocks
}

function readBlock(into: Blocks, block: Fields, path: string, isNew: boolean): void {
  switch (block.type) {
    case 'tool_use':
      into.calls.push({
        toolCallId: textIn(block.id, `${path}.id`),
        toolName: textIn(block.name, `${path}.name`),
        args: block.input,
      })
      break
    case 'tool_result':
      into.results.push({
        id: textIn(block.tool_use_id, `${path}.tool_use_id`),
        content:
          typeof block.content === 'string' ? block.content : partsIn(block.content, `${path}.content`),
        isError: block.is_error === true,
      })
      break
    default: {
      const parts = partOf(block, path, isNew)
      if (parts !== undefined) into.parts.push(...parts)
      // What is said about tools, such as `tool_addition`, is for nobody here.
      else if (isNew && !isOfTools(block.type))
        throw misfit(`${path}.type`, 'must be text, image, document, search_result or tool_result')
    }
  }
}

function isOfTools(type: unknown): boolean {
  return typeof type === 'string' && type.startsWith('tool_')
}

function partsIn(content: unknown, path: string): ContentPart[] {
  return blocksIn(content, path, false).parts
}

/** The parts of a block; undefined for one that is none of a user. A file that is not new may be one that is gone. */
function partOf(block: Fields, path: string, isNew: boolean): ContentPart[] | undefined {
  const { type, text, title, source } = block
  switch (type) {
    case 'text':
      return text === '' ? [] : [{ type, text: textIn(text, `${path}.text`) }]
    case 'image':
      return fileOf(Object(source), `${path}.source`, { type: 'image/*', isNew })
    case 'document':
      return fileOf(Object(source), `${path}.source`, { type: 'application/pdf', title, isNew })
    case 'search_result':
      return partsIn(block.content, `${path}.content`)
    default:
      return undefined
  }
}

/** What a block says of its file. */
interface About {
  /** The media type of a file that names none. */
  readonly type: string
  readonly title?: unknown
  readonly isNew: boolean
}

function fileOf(source: Fields, path: string, { type, title, isNew }: About): ContentPart[] {
  const { media_type, data, url, content } = source
  const named = typeof media_type === 'string' ? media_type : type
  const filename = typeof title === 'string' ? title : undefined
  switch (source.type) {
    case 'base64':
      if (isBase64(data)) return partsOfFile(data, named, filename)
      throw misfit(`${path}.data`, 'must be base64')
    case 'url':
      if (typeof url === 'string' && isAddress(url)) return partsOfFile(url, type, filename)
      throw misfit(`${path}.url`, 'must be a URL')
    case 'text':
      return [{ type: 'text', text: textIn(data, `${path}.data`) }]
    case 'content':
      return typeof content === 'string'
        ? blocksIn(content, path, isNew).parts
        : partsIn(content, `${path}.content`)
    default:
      if (!isNew) return []
      throw misfit(`${path}.type`, 'must be base64, url, text or content: files are not kept here')
  }
}

/** Whether a value is base64 that is not empty. */
function isBase64(value: unknown): value is string {
  return typeof value === 'string' && value.length % 4 !== 1 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value)
}

/** The value of a result, for the run that waits for it. `beside` is what the user said with it. */
export function answerOf({ id, content, isError }: ToolResult, beside: readonly ContentPart[]): GivenAnswer {
  if (isError)
    return { id, answer: { result: { error: [content, ...textsOf(beside)].map(textOf).join('\n\n') } } }
  return { id, answer: { result: valueIn(content, beside) } }
}

/**
 * The value: JSON if it is some, text, or parts. What the user said in the meantime follows it, because a run that goes on has no other
 * place for it.
 */
function valueIn(content: ToolResult['content'], beside: readonly ContentPart[]): unknown {
  const value = rawOf(content)
  if (beside.length === 0) return givenIn(value)
  const parts: readonly ContentPart[] = typeof value === 'string' ? [{ type: 'text', text: value }] : value
  const all = [...parts, ...beside]
  return all.every(({ type }) => type === 'text') ? textsOf(all).join('\n\n') : all
}

/** A result as it came: text, or parts if it is more than text. */
export function rawOf(content: ToolResult['content']): string | ContentPart[] {
  return typeof content !== 'string' && content.every(({ type }) => type === 'text')
    ? textOf(content)
    : content
}

/** The text of a content. */
export function textOf(content: string | readonly ContentPart[]): string {
  return typeof content === 'string' ? content : textsOf(content).join('')
}

function textsOf(parts: readonly ContentPart[]): string[] {
  return parts.flatMap(part => (part.type === 'text' ? part.text : []))
}
