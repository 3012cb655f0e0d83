/**
 * `GET /agents`, `/teams`, `/workflows` and `/registry`. They exist when auto-discovery is on.
 *
 * @module
 */

import type {
  InputHints,
  Kind,
  ServableAgent,
  ServableLike,
  ServableTeam,
  ServableWorkflow,
} from '../../agents/contract.ts'
import { shownSchema } from '../../agents/misfit.ts'
import { examplesIn } from '../../agents/registry.ts'
import { isObject } from '../../base/validation.ts'
import type { Brake, PausedTarget } from '../../runs/brake.ts'
import { jsonReply } from '../../web/reply.ts'
import type { Catalog, CatalogEntry } from '../catalog.ts'
import type { Route } from '../context.ts'
import type { JsonSchema } from '../json-schema.ts'
import { joinPath } from '../router.ts'

/** A servable's hints for its input, and whether it is paused. */
interface HintSummary {
  /** JSON Schema of the data that it takes. */
  readonly inputSchema?: JsonSchema
  /** Example prompts, at most 20. */
  readonly examples?: readonly string[]
  /** Set while it starts no new runs. `at` is ISO 8601. Only with the plugin `pausing`. */
  readonly paused?: Pick<PausedTarget, 'reason' | 'at'>
}

/** An agent in lists, without its instructions and keys. */
export interface AgentSummary extends HintSummary {
  readonly name: string
  readonly description: string | null
  /** The id of the model; null if the agent reports none. */
  readonly model: string | null
  readonly provider: string | null
  /** The most tokens of one answer of its model, if it says so. */
  readonly maxOutputTokens?: number
  /** Names of the agent's tools. */
  readonly tools: readonly string[]
  readonly hasStructuredOutput: boolean
  readonly capabilities: readonly string[]
  /** JSON Schema of its structured output. */
  readonly outputSchema?: JsonSchema
  /** Set if it accepts corrections at `POST /agents/:name/corrections`. */
  readonly corrections?: true
}

/** What the lists depend on. */
export interface ListParts {
  /** Returns the JSON Schema of a schema. Default: JSON Schema itself, and the one that a library's schema offers. */
  readonly toJsonSchema?: ((schema: unknown) => unknown) | undefined
  /** Whether corrections are accepted. */
  readonly hasCorrections: boolean
  /** Knows what is paused. */
  readonly brake?: Brake | undefined
}

/** A team in lists. */
export interface TeamSummary extends HintSummary {
  readonly name: string
  readonly description: string | null
  /** Names of the members. */
  readonly members: readonly string[]
}

/** A workflow in lists. */
export interface WorkflowSummary extends HintSummary {
  readonly name: string
  readonly description: string | null
  /** Names of the steps. */
  readonly steps: readonly string[]
}

/** Makes the four list routes under `prefix`. */
export function listRoutes(
  prefix: string,
  catalog: Catalog,
  { toJsonSchema = shownSchema, hasCorrections, brake }: ListParts,
): Route[] {
  const shown = showing(toJsonSchema)
  const list = (path: string, content: () => unknown): Route => ({
    method: 'GET',
    path: joinPath(prefix, path),
    part: 'router',
    endpoint: async () => jsonReply(await content()),
  })
  const all = (kind: Kind, summary: (name: string, servable: CatalogEntry['servable']) => object): Route =>
    list(`${kind}s`, async () => {
      const paused = await brake?.known()
      return catalog.entries(kind).map(({ name, servable }) => {
        const { reason, at } = paused?.find({ kind, name, servable }) ?? {}
        return { ...summary(name, servable), ...(at !== undefined && { paused: { reason, at } }) }
      })
    })
  return [
    all('agent', (name, servable) => ({
      ...agentSummary(name, servable as ServableLike<ServableAgent>, shown),
      ...(hasCorrections && takesCorrections(servable) && { corrections: true }),
    })),
    all('team', (name, servable) => teamSummary(name, servable as ServableLike<ServableTeam>, shown)),
    all('workflow', (name, servable) =>
      workflowSummary(name, servable as ServableLike<ServableWorkflow>, shown),
    ),
    list('registry', () => catalog.names()),
  ]
}

type Shown = (schema: unknown) => JsonSchema | undefined

/** The most characters of a schema in lists. */
const MAX_SCHEMA_LENGTH = 65_536

/** Makes a function that returns the schema for lists, once per schema. */
function showing(toJsonSchema: (schema: unknown) => unknown): Shown {
  return onceEach(schema => {
    const shown = toJsonSchema(schema)
    const isShort = isObject(shown) && JSON.stringify(shown).length <= MAX_SCHEMA_LENGTH
    return isShort ? shown : undefined
  })
}

/** Converts each schema once. Gives undefined for what is no schema, and for one that JSON Schema cannot express. */
export function onceEach(convert: (schema: object) => JsonSchema | undefined): Shown {
  const known = new WeakMap<object, JsonSchema | undefined>()
  const make = (schema: object) => {
    try {
      return convert(schema)
    } catch {
      return undefined
    }
  }
  return schema => {
    if (Object(schema) !== schema) return undefined
    const key = schema as object
    if (!known.has(key)) known.set(key, make(key))
    return known.get(key)
  }
}

function hintsOf({ input, examples: given }: InputHints, shown: Shown): HintSummary {
  const inputSchema = shown(input)
  const examples = examplesIn(given)
  return { ...(inputSchema && { inputSchema }), ...(examples.length > 0 && { examples }) }
}

function takesCorrections(servable: object): boolean {
  const { corrections } = servable as { readonly corrections?: unknown }
  return corrections === true || typeof Object(corrections).add === 'function'
}

function agentSummary(name: string, agent: ServableLike<ServableAgent>, shown: Shown): AgentSummary {
  const outputSchema = shown(agent.output)
  return {
    name,
    description: textIn(agent.description),
    model: textIn(agent.model?.id),
    provider: textIn(agent.model?.provider),
    ...(typeof agent.maxOutputTokens === 'number' && { maxOutputTokens: agent.maxOutputTokens }),
    tools: namesOf(agent.tools),
    hasStructuredOutput: agent.output !== undefined && agent.output !== null,
    capabilities: textsIn(agent.capabilities),
    ...(outputSchema && { outputSchema }),
    ...hintsOf(agent, shown),
  }
}

function teamSummary(name: string, team: ServableLike<ServableTeam>, shown: Shown): TeamSummary {
  const hints = hintsOf(team, shown)
  return { name, description: textIn(team.description), members: namesOf(team.members), ...hints }
}

function workflowSummary(
  name: string,
  workflow: ServableLike<ServableWorkflow>,
  shown: Shown,
): WorkflowSummary {
  const hints = hintsOf(workflow, shown)
  return { name, description: textIn(workflow.description), steps: namesOf(workflow.steps), ...hints }
}

/** Text from other code; null for any other value. */
function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
}

/** Names in a list from other code; none for any other value. */
function namesOf(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(item => (typeof item?.name === 'string' ? [item.name] : []))
}
