/**
 * The list of a server's tools, which nobody vouches for: page by page, within bounds, and without what cannot be used.
 *
 * @module
 */

import { isObject } from '../validation.ts'

/** A tool as its server describes it. */
export interface RemoteTool {
  readonly name: string
  readonly description: string | null
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
}

/** What a server offers. */
export interface Listing {
  readonly tools: ReadonlyMap<string, RemoteTool>
  /** What was left out, and why. */
  readonly warnings: readonly string[]
}

/** One page, as the protocol has it (MCP, `tools/list`). */
export interface ToolPage {
  readonly tools: readonly unknown[]
  readonly nextCursor?: string | undefined
}

/** As the protocol recommends. `__proto__` would be one, and is nothing to be called by. */
const NAME = /^(?!__proto__$)[\w.-]{1,128}$/

const MAX_DESCRIPTION = 10_000
const MAX_SCHEMA = 65_536
const MAX_PAGES = 100

/** Walks the pages. Stops at `maxTools`, at 100 pages, and at a page that was there before. */
export async function collectTools(
  page: (cursor: string | undefined) => Promise<ToolPage>,
  maxTools: number,
): Promise<Listing> {
  const collection = new Collection(maxTools)
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const { tools, nextCursor } = await page(cursor)
    for (const tool of tools) collection.add(tool)
    cursor = nextCursor
    if (cursor === undefined || collection.isFull) break
    if (seen.has(cursor) || seen.size >= MAX_PAGES) collection.isFull = true
    seen.add(cursor)
  } while (!collection.isFull)
  return collection
}

class Collection implements Listing {
  readonly tools = new Map<string, RemoteTool>()
  /** There is more than is taken. */
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
  const { name, description, inputSchema } = Object(value) as Record<string, unknown>
  if (typeof name !== 'string' || !NAME.test(name)) return 'names'
  if (!isObject(inputSchema) || !isShort(inputSchema)) return 'schemas'
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : null,
    inputSchema: { ...inputSchema, type: 'object' },
  }
}

/** One that is nested too deeply cannot be written. */
function isShort(schema: object): boolean {
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA
  } catch {
    return false
  }
}
