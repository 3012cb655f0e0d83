/**
 * Reads resources and prompts of a server. What it sends is not trusted: lists have limits, and unusable entries are left out.
 *
 * @module
 */

import { lookIn } from '../../agents/app-page.ts'
import type {
  ServerContent,
  ServerPrompt,
  ServerPromptText,
  ServerQuery,
  ServerResource,
} from '../../agents/server-reads.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { walkPages } from './tool-list.ts'

/** The server that is read. */
export interface Readable {
  readonly capabilities: { readonly resources?: unknown; readonly prompts?: unknown }
  /** Most entries of a list. */
  readonly maxItems: number
  /** Sends a request, and returns its result. */
  readonly ask: (method: string, params: object) => Promise<Record<string, unknown>>
}

const MAX_URI = 2048
const MAX_NAME = 256
const MAX_DESCRIPTION = 2000
const MAX_ARGUMENTS = 100

/** The JSON-RPC code for an unknown method. */
export const METHOD_NOT_FOUND = -32601

/** Throws `invalid_input` unless the server can be asked so. */
export function checkQuery(query: ServerQuery): void {
  if (query.kind === 'resource' && !isText(query.uri, MAX_URI))
    throw new ServableError('invalid_input', `A URI must be text of 1 to ${MAX_URI} characters`)
  if (query.kind !== 'prompt') return
  const { name, args = {} } = query
  if (!isText(name, MAX_NAME))
    throw new ServableError(
      'invalid_input',
      `The name of a prompt must be text of 1 to ${MAX_NAME} characters`,
    )
  if (!isObject(args) || Object.values(args).some(value => typeof value !== 'string'))
    throw new ServableError('invalid_input', 'The arguments of a prompt must be texts by name')
}

/** Answers a query. A list of what the server does not have is empty. */
export function readFrom(query: ServerQuery, server: Readable): Promise<unknown> {
  switch (query.kind) {
    case 'resources':
      return resourcesOf(server)
    case 'prompts':
      return promptsOf(server)
    case 'resource':
      return contentsOf(server, query.uri)
    case 'prompt':
      return promptOf(server, query)
  }
}

/** The entries of a page, and the cursor of the next one. Throws `tool_server_failed` if it is not a page. */
export function pageOf(
  result: Record<string, unknown>,
  member: string,
): readonly [items: readonly unknown[], nextCursor: string | undefined] {
  const { [member]: items, nextCursor } = result
  if (Array.isArray(items)) return [items, typeof nextCursor === 'string' ? nextCursor : undefined]
  throw noMessage()
}

async function resourcesOf(server: Readable) {
  if (server.capabilities.resources === undefined) return { resources: [], templates: [], warnings: [] }
  const resources = await listOf(server, 'resources/list', 'resources', toResource)
  // Some servers have resources, but no patterns.
  const templates = await listOf(server, 'resources/templates/list', 'resourceTemplates', toTemplate).catch(
    error => {
      if (Object(error).code === METHOD_NOT_FOUND) return { items: [], warnings: [] }
      throw error
    },
  )
  const warnings = [...resources.warnings, ...templates.warnings]
  return { resources: resources.items, templates: templates.items, warnings }
}

async function promptsOf(server: Readable) {
  if (server.capabilities.prompts === undefined) return { prompts: [], warnings: [] }
  const { items, warnings } = await listOf(server, 'prompts/list', 'prompts', toPrompt)
  return { prompts: items, warnings }
}

async function contentsOf({ ask }: Readable, uri: string): Promise<readonly ServerContent[]> {
  const { contents } = await ask('resources/read', { uri })
  if (!Array.isArray(contents)) throw noMessage()
  return contents.map(toContent)
}

async function promptOf(
  { ask }: Readable,
  { name, args = {} }: Extract<ServerQuery, { kind: 'prompt' }>,
): Promise<ServerPromptText> {
  const { description, messages } = await ask('prompts/get', { name, arguments: args })
  if (!Array.isArray(messages)) throw noMessage()
  return {
    description: textOf(description, MAX_DESCRIPTION),
    messages: messages.map(message => {
      const { role, content } = Object(message)
      if ((role !== 'user' && role !== 'assistant') || !isObject(content)) throw noMessage()
      return { role, content }
    }),
  }
}

/** Reads a list to its end, or to its limits. */
async function listOf<T>(
  { ask, maxItems }: Readable,
  method: string,
  member: string,
  toItem: (value: Record<string, unknown>) => T | undefined,
) {
  const items: T[] = []
  let unusable = 0
  let isFull = false
  const add = (value: unknown) => {
    const item = isObject(value) ? toItem(value) : undefined
    if (item === undefined) unusable++
    else if (items.length < maxItems) items.push(item)
    else isFull = true
  }
  const isCutOff = await walkPages(async cursor => {
    const [page, nextCursor] = pageOf(await ask(method, cursor === undefined ? {} : { cursor }), member)
    page.forEach(add)
    return isFull ? undefined : nextCursor
  })
  const warnings = [
    unusable > 0 && `${unusable} left out of \`${method}\`: an entry has no usable name or address`,
    (isFull || isCutOff) && `only the first ${items.length} of \`${method}\` are used: the server has more`,
  ].filter(warning => warning !== false)
  return { items, warnings }
}

function toResource(value: Record<string, unknown>): ServerResource | undefined {
  const { uri, size } = value
  if (!isText(uri, MAX_URI)) return undefined
  return {
    uri,
    ...factsOf(value, uri),
    size: Number.isSafeInteger(size) && Number(size) >= 0 ? Number(size) : null,
  }
}

function toTemplate(value: Record<string, unknown>) {
  const { uriTemplate } = value
  return isText(uriTemplate, MAX_URI) ? { uriTemplate, ...factsOf(value, uriTemplate) } : undefined
}

function factsOf({ name, description, mimeType }: Record<string, unknown>, other: string) {
  return {
    name: textOf(name, MAX_NAME) ?? other.slice(0, MAX_NAME),
    description: textOf(description, MAX_DESCRIPTION),
    mimeType: textOf(mimeType, MAX_NAME),
  }
}

function toPrompt(value: Record<string, unknown>): ServerPrompt | undefined {
  const { name, description, arguments: args } = value
  if (!isText(name, MAX_NAME)) return undefined
  return {
    name,
    description: textOf(description, MAX_DESCRIPTION),
    arguments: (Array.isArray(args) ? args.slice(0, MAX_ARGUMENTS) : []).flatMap(each => {
      const { name, description, required } = Object(each) as Record<string, unknown>
      if (!isText(name, MAX_NAME)) return []
      return [{ name, description: textOf(description, MAX_DESCRIPTION), required: required === true }]
    }),
  }
}

function toContent(value: unknown): ServerContent {
  const { uri, mimeType, text, blob, _meta } = Object(value) as Record<string, unknown>
  const { ui } = Object(_meta) as Record<string, unknown>
  const head = {
    ...{ uri: textOf(uri, MAX_URI) ?? '', mimeType: textOf(mimeType, MAX_NAME) },
    ...(isObject(ui) && { look: lookIn(ui) }),
  }
  if (typeof text === 'string') return { ...head, text }
  if (typeof blob === 'string') return { ...head, blob }
  throw noMessage()
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength
}

function textOf(value: unknown, maxLength: number): string | null {
  return typeof value === 'string' ? value.slice(0, maxLength) : null
}

function noMessage(): ServableError {
  return new ServableError(
    'tool_server_failed',
    'The tool server answered with something that is not an MCP message',
  )
}
