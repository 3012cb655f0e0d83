/**
 * Resources: what clients read by its address (MCP, resources).
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/contract.ts'
import { textOf } from '../../agents/input.ts'
import { ignoring } from '../../base/errors.ts'
import { checkOptions, func, record } from '../../base/schemas.ts'
import { toBase64 } from '../../web/base64.ts'
import { askedBy, completed, NamedSchema, PRIVATE, page } from './part.ts'
import type { Asked, Completes, McpPart, McpRequest, Named } from './request.ts'
import { type Fields, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError } from './rpc.ts'
import { type Template, templateOf } from './template.ts'

/** Who reads a resource. */
export interface ResourceAsked extends Asked {
  readonly uri: string
  /** The decoded values of the variables of a template. */
  readonly params: Readonly<Record<string, string>>
}

/** A resource in a list. */
export interface ResourceEntry extends Omit<Named, 'name'> {
  readonly uri: string
  /** Default: its address. */
  readonly name?: string | undefined
  readonly mimeType?: string | undefined
  /** Bytes. */
  readonly size?: number | undefined
}

/** The content of a resource: text, bytes, or either with a type of its own. */
export type ResourceContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string; readonly _meta?: object }
  | { readonly bytes: Uint8Array; readonly mimeType?: string; readonly _meta?: object }

/** A resource, or all resources of a template. */
export interface McpResource extends Partial<Named> {
  /** Default: `text/plain` for text, and `application/octet-stream` for bytes. */
  readonly mimeType?: string | undefined
  /** Returns the content. Undefined if there is none: the client learns that nothing is there. */
  read(asked: ResourceAsked): ResourceContent | undefined | Promise<ResourceContent | undefined>
  /** Lists the resources of a template: the first 10,000. Default: none is listed, and clients know the template alone. */
  list?(asked: Asked): readonly ResourceEntry[] | Promise<readonly ResourceEntry[]>
  /** Completes values of a template's variables: see `McpPrompt`. */
  readonly complete?: Readonly<Record<string, Completes>> | undefined
  /** Tells whether it has changed, by another value each time. Default: the content is compared. */
  version?(asked: ResourceAsked): unknown
}

const ResourceSchema = v.strictObject({
  ...NamedSchema,
  mimeType: v.optional(v.string()),
  read: func,
  list: v.optional(func),
  complete: v.optional(record),
  version: v.optional(func),
})

const OptionsSchema = v.record(v.string(), ResourceSchema)

/** Most resources of one template in lists. */
const MAX_LISTED = 10_000

/** Most bytes of a content. */
const MAX_BYTES = 16 * 1024 * 1024

interface Known {
  readonly uri: string
  readonly template: Template
  readonly resource: McpResource
}

/**
 * Offers resources by their addresses: `'notes://all'`, or templates such as `'notes://{id}'`. The first that fits is read. Throws
 * `invalid_options`.
 *
 * @example
 * mcp({ resources: mcpResources({ 'notes://{id}': { read: ({ params, identity }) => noteOf(identity?.id, params.id) } }) })
 */
export function mcpResources(resources: Readonly<Record<string, McpResource>>): McpPart {
  checkOptions('mcpResources', OptionsSchema, resources)
  const all = Object.entries(resources).map(
    ([uri, resource]): Known => ({ uri, template: templateOf(uri), resource }),
  )
  const templates = all.filter(({ template }) => template.variables.length > 0)
  const find = (uri: unknown) => {
    for (const known of typeof uri === 'string' ? all : []) {
      const params = known.template.match(String(uri))
      if (params !== undefined) return { ...known, params, uri: String(uri) }
    }
    return undefined
  }
  const listed = async (rpc: McpRequest): Promise<readonly object[]> => {
    const asked = askedBy(rpc)
    const lists = all.map(async ({ uri, template, resource }) => {
      if (template.variables.length === 0) return [shown(uri, resource)]
      const entries = (await resource.list?.(asked)) ?? []
      return entries.slice(0, MAX_LISTED).map(({ uri: address, name = address, ...more }) => ({
        ...{ uri: address, name, mimeType: resource.mimeType },
        ...more,
      }))
    })
    return (await Promise.all(lists)).flat()
  }
  const read = async (rpc: McpRequest, uri: unknown) => {
    const found = find(uri)
    const content = await found?.resource.read({ ...askedBy(rpc), uri: found.uri, params: found.params })
    if (found === undefined || content === undefined) throw notFound(rpc, uri)
    return contentOf(content, found.uri, found.resource.mimeType)
  }
  const linked = async (rpc: McpRequest, block: Fields) => {
    if (block.type !== 'resource_link') return block
    const { origin } = new URL(rpc.request.url)
    const uri = String(block.uri)
    const { files } = askedBy(rpc)
    // Without `publicUrl`, a file has an address without an origin.
    const at =
      (await files.placeOf(uri)) ??
      (uri.startsWith(`${origin}/`) && (await files.placeOf(uri.slice(origin.length))))
    return at ? { ...block, uri: fileUri(at) } : block
  }
  return {
    ...(Object.hasOwn(resources, FILE) && { linked }),
    capabilities: { resources: { subscribe: true, listChanged: true } },
    completes: templates.length > 0 && templates.some(({ resource }) => resource.complete !== undefined),
    methods: {
      'resources/list': async rpc => ({ ...page('resources', await listed(rpc), rpc), ...PRIVATE }),
      'resources/templates/list': rpc => ({
        ...page(
          'resourceTemplates',
          templates.map(({ uri, resource }) => {
            const { uri: uriTemplate, ...more } = shown(uri, resource)
            return { uriTemplate, ...more }
          }),
          rpc,
        ),
        ...PRIVATE,
      }),
      'resources/read': async rpc => ({
        contents: [await read(rpc, rpc.params.uri)],
        ...PRIVATE,
        ttlMs: 0,
      }),
    },
    async complete(rpc, { type, uri }) {
      if (type !== 'ref/resource') return undefined
      const known = templates.find(each => each.uri === uri)
      if (known === undefined) throw notFound(rpc, uri)
      return completed(rpc, known.resource.complete)
    },
    watched: {
      lists: { resourcesListChanged: listed },
      async version(rpc, uri) {
        const found = find(uri)
        if (found === undefined) return undefined
        const { resource, params } = found
        const asked = { ...askedBy(rpc), uri: found.uri, params }
        return resource.version === undefined ? resource.read(asked) : resource.version(asked)
      },
    },
  }
}

function shown(uri: string, { name = uri, title, description, icons, mimeType }: McpResource) {
  return { uri, name, title, description, icons, mimeType }
}

/** The error for an address that nothing has. */
export function notFound({ capabilities }: McpRequest, uri: unknown): RpcError {
  const data = { uri: typeof uri === 'string' ? uri.slice(0, 2000) : null }
  const code = capabilities === undefined ? RESOURCE_NOT_FOUND : INVALID_PARAMS
  return new RpcError(code, 'There is no such resource', 200, data)
}

function contentOf(content: ResourceContent, uri: string, usual: string | undefined): object {
  const isBare = typeof content === 'string' || content instanceof Uint8Array
  const { mimeType = usual, _meta }: { mimeType?: string; _meta?: object } = isBare ? {} : content
  const text = typeof content === 'string' ? content : 'text' in content ? content.text : undefined
  const bytes =
    content instanceof Uint8Array ? content : 'bytes' in Object(content) ? Object(content).bytes : undefined
  if ((text?.length ?? bytes?.length ?? 0) > MAX_BYTES) {
    throw new RpcError(INTERNAL_ERROR, `The resource has more than ${MAX_BYTES} bytes`, 200, { uri })
  }
  if (text !== undefined) return { uri, mimeType: mimeType ?? 'text/plain', text, _meta }
  return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: toBase64(bytes), _meta }
}

const FILE = 'servable://files/{run}/{file}'

/**
 * The files that agents made in the caller's stored runs, for `mcpResources`: the newest 500. They need the plugin `files()`, and the list
 * needs an identity. A link to such a file in the result of a tool has its address here.
 *
 * @example
 * mcp({ tools: true, tasks: mcpTasks(), resources: mcpResources(ownFiles()) })
 */
export function ownFiles(): Readonly<Record<string, McpResource>> {
  const find = ({ files, params: { run = '', file = '' } }: ResourceAsked) => files.open(run, file)
  return {
    [FILE]: {
      name: 'file',
      description: 'A file that an agent made for you',
      async list({ files }) {
        const all = await files.list()
        return all.map(({ filename, mimeType, size, ...at }) => ({
          ...{ uri: fileUri(at), name: filename, mimeType, size },
        }))
      },
      version: async asked => (await find(asked))?.digest,
      async read(asked) {
        const file = await find(asked)
        if (file === undefined) return undefined
        const { mimeType, size, address } = file
        if (size > MAX_BYTES) {
          const message = `The file has ${size} bytes, and a resource at most ${MAX_BYTES}: download it from \`${address}\``
          throw new RpcError(INTERNAL_ERROR, message, 200, { uri: asked.uri })
        }
        const content = await file.read()
        if (content === undefined) return undefined
        const bytes = new Uint8Array(await new Response(content).arrayBuffer())
        const text = TEXT.test(mimeType) ? textIn(bytes) : undefined
        return text === undefined ? { bytes, mimeType } : { text, mimeType }
      },
    },
  }
}

function fileUri({ runId, place }: { readonly runId: string; readonly place: string }): string {
  return `servable://files/${runId}/${place}`
}

/** Media types whose content is text, if it is UTF-8. */
const TEXT = /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml|javascript)\b|^image\/svg\+xml\b/

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const KINDS: readonly unknown[] = ['agent', 'team', 'workflow']

const CONVERSATION = 'servable://conversations/{kind}/{name}/{id}'

/** Most conversations in the list. */
const MAX_CONVERSATIONS = 100

/**
 * The caller's own conversations as transcripts, for `mcpResources`. They need the plugin `sessions()` and an identity. Those whose id
 * has a slash are left out.
 *
 * @example
 * mcp({ tools: true, resources: mcpResources(ownConversations()) })
 */
export function ownConversations(): Readonly<Record<string, McpResource>> {
  const { match } = templateOf(CONVERSATION)
  const nothing = ignoring('not_found', 'session_not_found', 'unsupported_operation')
  return {
    [CONVERSATION]: {
      name: 'conversation',
      description: 'A conversation of yours with an agent, a team or a workflow',
      mimeType: 'text/markdown',
      async list({ caller }) {
        const page = await caller.sessions.list({ limit: MAX_CONVERSATIONS }).catch(nothing)
        const entries = (page?.sessions ?? []).map(({ kind, name, id, title }) => ({
          uri: `servable://conversations/${[kind, name, id].map(encodeURIComponent).join('/')}`,
          name: title ?? id,
        }))
        return entries.filter(({ uri }) => match(uri) !== undefined)
      },
      async read({ caller, find, params: { kind, name = '', id = '' } }) {
        const target = KINDS.includes(kind) ? find(kind as Kind, name) : undefined
        const turns = target && (await caller.sessions.turns({ target, id }).catch(nothing))
        if (!turns?.length) return undefined
        return turns
          .map(({ input, text }) => `**User**\n\n${textOf(input)}\n\n**${name}**\n\n${text}`)
          .join('\n\n')
      },
    },
  }
}
