/** What the service serves: its agents, teams and workflows. */
import { signal } from '@preact/signals'
import type { Kind } from '../src/agents/contract.ts'
import { ServableClientError } from '../src/client/index.ts'
import { BASE, client, config } from './service.ts'

/** Something that runs. */
export interface Target {
  readonly kind: Kind
  readonly name: string
  readonly description: string | null
  /** The model of an agent, if it tells one. */
  readonly model?: string | null | undefined
  readonly provider?: string | null
  /** The most tokens of one answer of the model of an agent. */
  readonly maxOutputTokens?: number
  /** Names of the tools of an agent. */
  readonly tools?: readonly string[]
  readonly capabilities?: readonly string[]
  /** Names of the members of a team. */
  readonly members?: readonly string[]
  /** Names of the steps of a workflow. */
  readonly steps?: readonly string[]
  /** Example prompts. */
  readonly examples?: readonly string[]
  /** JSON Schema of the data that it takes. */
  readonly inputSchema?: unknown
  /** JSON Schema of its structured output. */
  readonly outputSchema?: unknown
  /** Whether it takes corrections. */
  readonly corrections?: true
  /** Why and since when new runs of it are refused. */
  readonly paused?: { readonly reason: string | null; readonly at: string } | undefined
}

/** The catalog. `error`: why the service does not tell it. */
export interface Catalog {
  readonly targets: readonly Target[]
  readonly isLoaded: boolean
  readonly error?: unknown
}

export const catalog = signal<Catalog>({ targets: [], isLoaded: false })

/** The error of a service that lists nothing, without a request that would fail. */
const NOT_LISTED = new ServableClientError('not_found', 'The service does not list what it serves', {
  status: 404,
})

/** Loads the catalog, or loads it again. */
export async function loadCatalog(signal?: AbortSignal): Promise<void> {
  const options = signal ? { signal } : {}
  const of = <T extends Omit<Target, 'kind'>>(kind: Kind, all: readonly T[]) =>
    all.map((each): Target => ({ ...each, kind }))
  if (!config.value.listsAgents) {
    catalog.value = { ...catalog.value, isLoaded: true, error: NOT_LISTED }
    return
  }
  try {
    const [agents, teams, workflows] = await Promise.all([
      client.agents(options),
      client.teams(options),
      client.workflows(options),
    ])
    catalog.value = {
      targets: [...of('agent', agents), ...of('team', teams), ...of('workflow', workflows)],
      isLoaded: true,
    }
  } catch (error) {
    if (!signal?.aborted) catalog.value = { ...catalog.value, isLoaded: true, error }
  }
}

/** A command that makes a run. Undefined if the service has nothing that runs. */
export function firstRun(): string | undefined {
  const [target] = catalog.value.targets
  if (target === undefined) return undefined
  return `curl ${BASE}/${target.kind}s/${encodeURIComponent(target.name)}/run -H 'content-type: application/json' -d '{"input": "Hello"}'`
}
