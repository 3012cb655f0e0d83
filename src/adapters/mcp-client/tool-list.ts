/**
 * Reads the list of a server's tools page by page. The list is not trusted: it has limits, and unusable tools are left out.
 *
 * @module
 */

import { isPageUri, type ToolCaller } from '../../agents/app-page.ts'
import type { ToolAnnotations } from '../../agents/tool.ts'
import { isObject } from '../../base/validation.ts'

/** A tool as its server describes it. */
export interface RemoteTool {
  readonly name: string
  readonly description: string | null
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
  /** Those hints that decide whether a call may be done again. */
  readonly annotations: Pick<ToolAnnotations, 'readOnlyHint' | 'idempotentHint'>
  /** The address of its page. */
  readonly pageUri?: string
  /** Who may call it. */
  readonly visibility?: readonly ToolCaller[]
}

/** The tools of a server. */
export interface Listing {
  readonly tools: ReadonlyMap<string, RemoteTool>
  /** What was left out, and why. */
  readonly warnings: readonly string[]
}

/** One page of the protocol (MCP, `tools/list`). */
export interface ToolPage {
  readonly tools: readonly unknown[]
  readonly nextCursor?: string | undefined
}

/** The names that the protocol recommends. `__proto__` would be one, but is unsafe as a key. */
const NAME = /^(?!__proto__$)[\w.-]{1,128}$/

const MAX_DESCRIPTION = 10_000
const MAX_SCHEMA = 65_536
const MAX_PAGES = 100
const MAX_CURSOR = 2048

/** Reads the pages. Stops at `maxTools`, after 100 pages, and at a page that was read before. */
export async function collectTools(
  page: (cursor: string | undefined) => Promise<ToolPage>,
  maxTools: number,
): Promise<Listing> {
  const collection = new ToolCollection(maxTools)
  const isCutOff = await walkPages(async cursor => {
    const { tools, nextCursor } = await page(cursor)
    for (const tool of tools) collection.add(tool)
    return collection.isFull ? undefined : nextCursor
  })
  collection.isFull ||= isCutOff
  return collection
}

/**
 * Calls `read` with one cursor after the other, until it returns none. Stops after 100 pages, at a cursor that came before, and at
 * one of more than 2,048 characters. Returns whether it stopped early.
 */
export async function walkPages(
  read: (cursor: string | undefined) => Promise<string | undefined>,
): Promise<boolean> {
  const seen = new Set<string>()
  let cursor = await read(undefined)
  while (cursor !== undefined) {
    if (seen.has(cursor) || seen.size >= MAX_PAGES || cursor.length > MAX_CURSOR) return true
    seen.add(cursor)
    cursor = await read(cursor)
  }
  return false
}

class ToolCollection implements Listing {
  readonly tools = new Map<string, RemoteTool>()
  /** Whether there are more tools than the limit. */
  isFull = false
  readonly #maxTools: number
  readonly #left = { names: 0, schemas: 0, twice: 0 }

  constructor(maxTools: number) {
    this.#maxTools = maxTools
  }

  add(value: unknown): void {
    const tool = toTool(value)
    if (typeof tool === 'string') this.#left[tool]++
    else if (this.tools.has(tool.name)) this.#left.twice++
    else if (this.tools.size < this.#maxTools) this.tools.set(tool.name, tool)
    else this.isFull = true
  }

  get warnings(): readonly string[] {
    const { names, schemas, twice } = this.#left
    const warnings = [
      names > 0 &&
        `${names} left out: a tool's name must be 1 to 128 letters, digits, \`_\`, \`-\` and \`.\``,
      schemas > 0 && `${schemas} left out: the schema of the arguments is missing or too large`,
      twice > 0 && `${twice} left out: an earlier tool has this name`,
      this.isFull && `only the first ${this.tools.size} tools are used: the server has more`,
    ]
    return warnings.filter(warning => warning !== false)
  }
}

function toTool(value: unknown): RemoteTool | 'names' | 'schemas' {
  const { name, description, inputSchema, annotations, _meta } = Object(value) as Record<string, unknown>
  const { readOnlyHint, idempotentHint } = Object(annotations) as Record<string, unknown>
  if (typeof name !== 'string' || !NAME.test(name)) return 'names'
  if (!isObject(inputSchema) || !isShort(inputSchema)) return 'schemas'
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : null,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: readOnlyHint === true, idempotentHint: idempotentHint === true },
    ...pageOf(_meta),
  }
}

/** What a tool says of its page (MCP Apps, tool metadata). `ui/resourceUri` is from before the revision. */
function pageOf(meta: unknown): Pick<RemoteTool, 'pageUri' | 'visibility'> {
  const { ui, 'ui/resourceUri': flat } = Object(meta) as Record<string, unknown>
  const { resourceUri = flat, visibility } = Object(ui) as Record<string, unknown>
  const callers = Array.isArray(visibility) ? CALLERS.filter(each => visibility.includes(each)) : undefined
  return {
    ...(isPageUri(resourceUri) && { pageUri: resourceUri }),
    ...(callers && { visibility: callers }),
  }
}

const CALLERS: readonly ToolCaller[] = ['model', 'app']

/** Whether a schema is short enough. A schema that is nested too deep cannot be serialized. */
function isShort(schema: object): boolean {
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA
  } catch {
    return false
  }
}
