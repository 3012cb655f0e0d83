import type { RunInput, RunResult } from '../agents/contract.ts'
import type { Correction, CorrectionInput, CorrectionPage } from '../agents/corrections.ts'
import type { RegistryNames } from '../agents/registry.ts'
import type { NamesOf, Served, StructuredOf } from '../agents/served.ts'
import type { AgentSummary, TeamSummary, WorkflowSummary } from '../http/routes/list-routes.ts'
import type { ToolDetail, ToolSummary } from '../http/tool-catalog.ts'
import type { PausedTarget } from '../runs/brake.ts'
import { type ApprovalsClient, createApprovals } from './approvals.ts'
import { type ClientCaller, createCaller } from './call.ts'
import { prepareRun, type RunStart, type RunTarget } from './client-run.ts'
import { createMetrics, type MetricsClient } from './metrics.ts'
import type { CallOptions, ClientOptions, FollowedOptions, PlainOptions } from './options.ts'
import { runToEnd, withResult } from './result.ts'
import { type RunEvents, type RunStream, streamRun } from './run-stream.ts'
import { createRuns, type RunsClient } from './runs.ts'
import { queryOf, segment } from './sent.ts'
import { createSessions, type SessionsClient } from './sessions.ts'

/** The result of a run whose structured output has a type. */
export type ResultOf<Structured> = object extends Structured
  ? RunResult
  : Omit<RunResult, 'structured'> & { readonly structured: Structured | null }

/** Runs an agent, a team or a workflow. */
export interface ServableClient<Result = RunResult> {
  /**
   * Runs to the end. By default this is a stored run: if an answer is lost, the client asks for the same run again. Rejects
   * with the code of a run that failed. Aborting cancels the run on the service before this rejects.
   */
  run(input: RunInput, options?: FollowedOptions | PlainOptions): Promise<Result>
  /**
   * Runs and yields the events as they come. By default this is a stored run: the stream continues after a lost connection.
   * Leaving the loop or aborting cancels the run on the service, and waits at most 10 s for the answer to that.
   *
   * @example
   * for await (const event of client.agent('echo').stream('Hello')) {
   *   if (event.type === 'text') console.log(event.text)
   * }
   */
  stream(input: RunInput, options?: FollowedOptions): RunStream<Result>
  /**
   * Runs a plain run and yields the events as they come. It ends with its connection: a lost connection throws
   * `stream_broken`, and leaving the loop or aborting cancels the run. The stream has no `result()`.
   *
   * @example
   * for await (const event of client.agent('echo').stream('Hello', { follow: false })) console.log(event.type)
   */
  stream(input: RunInput, options: PlainOptions): RunEvents
}

/** Corrections of an agent's output. The calls reject with `not_found` if the agent accepts none. */
export interface CorrectionsClient {
  /** Stores a correction. The client does not send it again after a lost answer, since the service may have stored it. */
  add(correction: CorrectionInput, options?: CallOptions): Promise<Correction>
  /** A page of the caller's corrections, newest first. */
  list(
    query?: { readonly cursor?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<CorrectionPage>
}

/** Runs an agent and manages its corrections. */
export interface AgentClient<Result = RunResult> extends ServableClient<Result> {
  /** Corrections of the agent's output. */
  readonly corrections: CorrectionsClient
}

/** The tools that the service lists. */
export interface ToolsClient {
  /** All tools. */
  list(options?: CallOptions): Promise<readonly ToolSummary[]>
  /** One tool. Rejects with `tool_not_found`. */
  get(name: string, options?: CallOptions): Promise<ToolDetail>
}

/** The health of a service. */
export interface Health {
  readonly status: 'ok' | 'unavailable'
  /** True if the service answers. */
  readonly live: boolean
  /** True if the service can reach its state. */
  readonly ready: boolean
}

/** A client of one service. `Names` are the names on the service, if the compiler knows them. */
export interface Client<Names extends Served = Served> {
  /** An agent by name. Nothing is sent until it runs. */
  agent<Name extends keyof Names['agents'] & string>(
    name: Name,
  ): AgentClient<ResultOf<StructuredOf<Names['agents'][Name]>>>
  /** A team by name. */
  team<Name extends keyof Names['teams'] & string>(
    name: Name,
  ): ServableClient<ResultOf<StructuredOf<Names['teams'][Name]>>>
  /** A workflow by name. */
  workflow<Name extends keyof Names['workflows'] & string>(
    name: Name,
  ): ServableClient<ResultOf<StructuredOf<Names['workflows'][Name]>>>
  /** Stored runs. */
  readonly runs: RunsClient
  /** The caller's sessions. */
  readonly sessions: SessionsClient
  /** The requests that wait for a person, if the service has the plugin `approvals`. */
  readonly approvals: ApprovalsClient
  /** The tools that the service lists. */
  readonly tools: ToolsClient
  /** The metrics of the service. */
  readonly metrics: MetricsClient
  /** All agents with their descriptions. Rejects with `not_found` if the service hides its lists. */
  agents(options?: CallOptions): Promise<readonly AgentSummary[]>
  /** All teams. */
  teams(options?: CallOptions): Promise<readonly TeamSummary[]>
  /** All workflows. */
  workflows(options?: CallOptions): Promise<readonly WorkflowSummary[]>
  /** All names by kind. */
  registry(options?: CallOptions): Promise<RegistryNames>
  /**
   * Pauses an agent, team or workflow, or changes the reason: its new runs are refused with `agent_paused`. At most 500 characters, which
   * callers are told. Rejects with `not_found` if the service has no `pausing()`.
   */
  pause(target: RunTarget, reason?: string, options?: CallOptions): Promise<PausedTarget>
  /** Resumes it. */
  resume(target: RunTarget, options?: CallOptions): Promise<Pick<PausedTarget, 'kind' | 'name'>>
  /** What is paused. */
  paused(options?: CallOptions): Promise<readonly PausedTarget[]>
  /** The health of the service, in one try. It also resolves for a service that cannot serve. */
  health(options?: CallOptions): Promise<Health>
}

/**
 * Makes a client of a service. It sends nothing yet. Throws `invalid_options` for an invalid `baseUrl`.
 *
 * With the type of a handler, the compiler knows the agents, teams and workflows that were given to it by name.
 *
 * @example
 * const client = createClient<typeof handler>({ baseUrl: 'http://127.0.0.1:8787/api' })
 * const { text } = await client.agent('echo').run('Hello')
 */
export function createClient<Handler = { readonly '~served'?: Served }>(
  options: ClientOptions,
): Client<NamesOf<Handler>> {
  const caller = createCaller(options)
  const { ask } = caller
  const runs = createRuns(caller)
  const client: Client = {
    agent: name => ({
      ...createServable(caller, { kind: 'agent', name }),
      corrections: createCorrections(caller, name),
    }),
    team: name => createServable(caller, { kind: 'team', name }),
    workflow: name => createServable(caller, { kind: 'workflow', name }),
    runs,
    sessions: createSessions(caller),
    approvals: createApprovals(caller, runs),
    metrics: createMetrics(caller),
    tools: {
      list: call => ask('/tools', call),
      get: async (name, call) => ask(`/tools/${segment(name)}`, call),
    },
    agents: call => ask('/agents', call),
    teams: call => ask('/teams', call),
    workflows: call => ask('/workflows', call),
    registry: call => ask('/registry', call),
    pause: async (target, reason, call) =>
      ask(`${pathOf(target)}/pause`, call, { method: 'POST', body: { reason } }),
    resume: async (target, call) => ask(`${pathOf(target)}/resume`, call, { method: 'POST' }),
    paused: async call => (await ask<{ paused: readonly PausedTarget[] }>('/paused', call)).paused,
    health: call => ask('/health', call, { accepts: 503 }, 1),
  }
  return client as Client<NamesOf<Handler>>
}

function pathOf({ kind, name }: RunTarget): string {
  return `/${kind}s/${segment(name)}`
}

function createServable(caller: ClientCaller, target: RunTarget): ServableClient {
  function stream(input: RunInput, options?: FollowedOptions): RunStream
  function stream(input: RunInput, options: PlainOptions): RunEvents
  function stream(input: RunInput, options: RunStart = {}): RunEvents {
    const events = streamRun(caller, prepareRun(caller, target, input, options), options)
    return options.follow === false ? events : withResult(caller, events, options)
  }
  const run = async (input: RunInput, options: RunStart = {}) =>
    runToEnd(caller, prepareRun(caller, target, input, options), options)
  return { run, stream }
}

function createCorrections(caller: ClientCaller, name: string): CorrectionsClient {
  const path = () => `/agents/${segment(name)}/corrections`
  return {
    add: async (correction, options) => caller.ask(path(), options, { method: 'POST', body: correction }, 1),
    list: async (query, options) => caller.ask(path() + queryOf(query), options),
  }
}
