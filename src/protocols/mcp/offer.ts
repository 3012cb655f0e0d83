/**
 * The tools on offer. Each request looks them up.
 *
 * @module
 */

import * as v from 'valibot'
import type { AppPage, ToolCaller } from '../../agents/app-page.ts'
import { fitOf } from '../../agents/misfit.ts'
import type { ToolAnnotations } from '../../agents/tool.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit, validate } from '../../base/validation.ts'
import type { Catalog } from '../../http/catalog.ts'
import type { JsonSchema } from '../../http/json-schema.ts'
import { onceEach } from '../../http/routes/list-routes.ts'
import type { AskedRun } from '../../http/runs/start-run.ts'
import type { Target } from '../../runs/target.ts'
import { idText } from '../encoders/conversation.ts'
import { findNamed, namesOf } from '../encoders/named.ts'
import type { Fields } from './rpc.ts'

/** Whether calls become tasks: never, those that take long, or always. */
export type TaskSupport = 'forbidden' | 'optional' | 'required'

/** A servable as a tool. */
export interface McpTool {
  /** The servable: `support`, `team/desk` or `workflow/onboard`. A bare name means an agent first. */
  readonly of: string
  /** At most 64 characters. Default: the servable's name, with `_` in place of anything but letters, digits, `_` and `-`. */
  readonly name?: string | undefined
  /** The name that clients show to people. */
  readonly title?: string | undefined
  /** What the tool does. Models choose tools by it. Default: the servable's description. */
  readonly description?: string | undefined
  /**
   * The schema of the arguments: JSON Schema, or a schema that can be converted to it. The run gets the arguments as one `data`
   * part. Default: a text `input` and a `sessionId`.
   */
  readonly input?: unknown
  /** Hints for clients. Default: `{ openWorldHint: true }`. */
  readonly annotations?: ToolAnnotations | undefined
  /** Whether calls become tasks. Without the option `tasks` no call does. Default: `optional`. */
  readonly taskSupport?: TaskSupport | undefined
  /** Who calls it: models, pages, or both. With `['app']` only clients that show pages see it. Default: both, if it has a page. */
  readonly visibility?: readonly ToolCaller[] | undefined
}

/** A tool as it is offered now. */
export interface Offered extends Pick<McpTool, 'title' | 'annotations' | 'visibility'> {
  readonly name: string
  readonly description: string | undefined
  /** The schema of the arguments. Undefined for a text and a session. */
  readonly input: unknown
  readonly inputSchema: JsonSchema
  /** The schema of structured results. */
  readonly outputSchema: JsonSchema | undefined
  readonly target: Target
  readonly taskSupport: TaskSupport
  /** The page that shows its results. */
  readonly page?: AppPage | undefined
  /** The tool server that it is of. */
  readonly server?: string | undefined
}

/** Tools that are not servables. */
export interface MoreTools {
  /** The names that are known at the start. */
  readonly names: readonly string[]
  list(): Promise<readonly Offered[]>
}

/** The tools of a service. */
export interface Offer extends Pick<MoreTools, 'list'> {
  /** The names of the options that are not served now. */
  missing(): readonly string[]
  /** The tools of servables. */
  own(): readonly Offered[]
  find(name: string): Promise<Offered | undefined>
}

const NO_NAME = /[^\w-]/g

/** Makes a name that every model's API accepts. */
export function toolName(name: string): string {
  return name.replace(NO_NAME, '_').slice(0, 64)
}

/** The arguments of a servable that takes text. */
const TEXT_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    input: { type: 'string', description: 'What to do, in plain language' },
    sessionId: {
      type: 'string',
      description:
        'Goes on with a conversation: the same text in each call of it. Or a text that an answer of this tool named.',
    },
  },
  required: ['input'],
}

/** Returns the JSON Schema of a schema, or null if it has none. */
export type ToJsonSchema = (schema: unknown) => JsonSchema | null

/**
 * Makes a function that returns the schema for clients. It converts each schema once, and returns undefined unless it is an
 * object.
 */
export function objectSchemas(toJsonSchema: ToJsonSchema): (schema: unknown) => JsonSchema | undefined {
  return onceEach(schema => {
    const { type, ...rest } = Object(toJsonSchema(schema)) as JsonSchema
    return type === 'object' ? { type, ...rest } : undefined
  })
}

/** Any arguments. */
export const ANY_INPUT: JsonSchema = { type: 'object' }

/** Makes the offer of servables and further tools. Throws `invalid_options` if two tools have the same name. */
export function createOffer(
  tools: true | readonly (string | McpTool)[],
  catalog: Catalog,
  {
    more,
    schemaOf,
  }: { readonly more: MoreTools | undefined; readonly schemaOf: ReturnType<typeof objectSchemas> },
): Offer {
  const asOffered = (tool: string | McpTool) => {
    const { of, name, input, taskSupport, ...shown } =
      typeof tool === 'string' ? ({ of: tool } as McpTool) : tool
    return {
      ...{ annotations: { openWorldHint: true }, ...shown, of, input },
      name: name ?? toolName(of),
      inputSchema: input === undefined ? TEXT_SCHEMA : (schemaOf(input) ?? ANY_INPUT),
      taskSupport: taskSupport ?? 'optional',
    }
  }
  const named = tools === true ? undefined : tools.map(asOffered)
  const names = [...(named ?? []).map(({ name }) => name), ...(more?.names ?? [])]
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    throw new ServableError(
      'invalid_options',
      `\`mcp\`: two tools are named \`${twice}\`: give one of \`mcp.tools\` a \`name\``,
    )
  const offered = (tool: ReturnType<typeof asOffered>): Offered[] => {
    const target = findNamed(catalog, tool.of)
    if (target === undefined) return []
    const { description, output, page } = target.servable
    return [
      { ...tool, target, description: tool.description ?? description, outputSchema: schemaOf(output), page },
    ]
  }
  const all = () => named ?? namesOf(catalog).map(asOffered)
  const own = () => all().flatMap(offered)
  const others = async () => (await more?.list()) ?? []
  return {
    own,
    missing: () => all().flatMap(tool => (offered(tool).length > 0 ? [] : tool.of)),
    async list() {
      const seen = new Set<string>()
      // If several tools have one name, the first is used.
      return [...own(), ...(await others())].filter(({ name }) => !seen.has(name) && seen.add(name))
    },
    async find(wanted) {
      const isWanted = ({ name }: { readonly name: string }) => name === wanted
      return all().filter(isWanted).flatMap(offered)[0] ?? (await others()).find(isWanted)
    },
  }
}

/** What a tool says of its page in lists. `ui/resourceUri` is for clients before the revision. */
function metaOfTool({ page, visibility, server }: Offered): object | undefined {
  if (page === undefined && visibility === undefined && server === undefined) return undefined
  const ui = { ...(page && { resourceUri: page.uri }), ...(visibility && { visibility }) }
  return {
    ...((page || visibility) && { ui }),
    ...(page && { 'ui/resourceUri': page.uri }),
    ...(server !== undefined && { 'servable/server': server }),
  }
}

/** A tool as lists show it. */
export function specOf(tool: Offered): object {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  return { name, title, description, inputSchema, outputSchema, annotations, _meta: metaOfTool(tool) }
}

const ArgumentsSchema = v.object({
  input: v.pipe(v.string('must be text'), v.nonEmpty('must not be empty')),
  sessionId: v.optional(idText),
})

/** The run that a call asks for. Throws `invalid_body`. */
export async function askedOf({ input, target }: Offered, args: Fields): Promise<AskedRun> {
  if (input === undefined) return { target, ...validate(ArgumentsSchema, args, 'invalid_body', 'arguments') }
  const fit = await fitOf(args, input)
  if ('misfit' in fit) throw misfit('arguments', `do not fit: ${fit.misfit}`)
  // Direct tools read their arguments themselves.
  const data = target.scope ? args : JSON.parse(JSON.stringify(fit.value))
  return { target, input: [{ type: 'data', data }] }
}
