/**
 * What an agent, a team and a workflow are to this library. Any object that fits is servable; the classes of this
 * folder are only the ready-made ones.
 *
 * @module
 */

import type { EventBus } from './bus.ts'
import type { CorrectionStore } from './corrections.ts'
import type { RunMemory } from './memory.ts'
import type { Tool } from './tool.ts'

/** The read-only discriminant of everything servable. */
export type Kind = 'agent' | 'team' | 'workflow'

/** A piece of a multi-modal message. `data` is base64 or a URL; in a `data` part it is any JSON. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'data'; readonly data: unknown }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType?: string | undefined }
  | {
      readonly type: 'file'
      readonly data: string
      readonly mimeType: string
      readonly filename?: string | undefined
    }

/** The message of a run: text, or parts in their order. */
export type RunInput = string | readonly ContentPart[]

/** What the caller of a run tells the servable. Every member is optional. */
export interface RunOptions {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /** Who asks: the identity that middleware set, else what the client claims. */
  readonly userId?: string | undefined
  /** The id of the identity that middleware set; never a claim of the client's. */
  readonly identity?: string | undefined
  /** What the deployment keeps of earlier runs, of the same owner. */
  readonly memory?: RunMemory | undefined
  /** The model provider's key for this run, chosen by the provider of the servable's model. */
  readonly apiKey?: string | undefined
  /**
   * Every key of the request: by provider id and by each name the provider matches, and under `'*'` the one that
   * goes to whatever provider is used. Never store, log or return them.
   */
  readonly apiKeys?: Readonly<Record<string, string>> | undefined
  /** Fires when the run is cancelled, timed out, left by its client or reader. Give it to everything that waits. */
  readonly signal?: AbortSignal | undefined
  /** The id of the run: a UUID unless the caller chose one. */
  readonly runId?: string | undefined
  /** The id of the request that started the run, as the log has it: of a socket's run, of the request that opened it. */
  readonly requestId?: string | undefined
  /** The request's place in a distributed trace (W3C Trace Context), to be passed on. */
  readonly traceparent?: string | undefined
  /** What a transport knows beyond this, such as A2A's task and context ids. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** What one model used of a run. */
export interface ModelUsage {
  /** `provider/id`; absent where the servable that used it names no model. */
  readonly model?: string | undefined
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** In USD, where it is told; else a price of the deployment may say. */
  readonly cost?: number | undefined
}

/** Tokens that a run used, in whole tokens. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** What the run cost in USD, where the servable knows. */
  readonly cost?: number | undefined
  /** What each model used, of a run with others inside of it: a team's members, the agents of a workflow's steps. */
  readonly models?: readonly ModelUsage[] | undefined
}

/** One tool call of a run. */
export interface ToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: string | undefined
  /** Whose call it is, where it is not the run's own: the name of a team's member, or of a workflow's agent. */
  readonly agent?: string | undefined
}

/** Why a run ended, unless it failed. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'input_required'
  | 'auth_required'
  | 'rejected'
  | 'cancelled'

/** A file or data that a run made. */
export interface Artifact {
  readonly artifactId: string
  readonly name?: string | undefined
  readonly parts: readonly ContentPart[]
}

/** A step of a workflow or a member's turn in a team. */
export interface Step {
  readonly name: string
  readonly status: 'completed' | 'failed'
  /** Milliseconds that the step took. */
  readonly durationMs: number
}

/** The answer of a run. */
export interface RunResult {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly usage: Usage
  /** The validated object of an agent with structured output, otherwise null. */
  readonly structured: object | null
  /** Milliseconds from the start of the run to its end. */
  readonly durationMs: number
  readonly finishReason: FinishReason
  readonly runId: string
  /** The steps of a workflow or team, in the order in which they ended. */
  readonly steps?: readonly Step[] | undefined
  /** What the run made, with its chunks joined. */
  readonly artifacts?: readonly Artifact[] | undefined
}

/** What a servable may resolve with: text, or as much of a {@link RunResult} as it knows. */
export type RunOutcome = string | Partial<RunResult> | undefined

/**
 * What happens in a run, in order. A failed run ends in exactly one `error`, every other run in exactly one
 * `finish`; nothing follows either.
 */
export type RunEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | {
      readonly type: 'tool_call_start'
      readonly toolCall: { readonly id: string; readonly name: string }
      /** Whose call it is, where it is not the run's own: the name of a team's member, or of a workflow's agent. */
      readonly agent?: string | undefined
    }
  | { readonly type: 'tool_call_delta'; readonly toolCallId: string; readonly argumentsDelta: string }
  | {
      readonly type: 'tool_call_end'
      readonly toolCallId: string
      readonly result?: unknown
      /** What the tool failed with; masked in production unless `code` is one that the caller can mend. */
      readonly error?: string | undefined
      readonly code?: string | undefined
      /** As with `tool_call_start`. */
      readonly agent?: string | undefined
    }
  | StepEvent
  | ArtifactEvent
  | { readonly type: 'message'; readonly parts: readonly ContentPart[] }
  | FinishEvent
  | ErrorEvent

/** Progress of a workflow or team. `text` is what an inner step says, apart from the run's own answer. */
export interface StepEvent {
  readonly type: 'step'
  readonly name: string
  readonly status: 'started' | 'progress' | 'completed' | 'failed'
  /** Zero-based place of the step. */
  readonly index?: number | undefined
  readonly text?: string | undefined
  readonly durationMs?: number | undefined
  readonly error?: string | undefined
}

/** A file or data, whole or in chunks: `append` adds to the artifact of the same id. */
export interface ArtifactEvent extends Artifact {
  readonly type: 'artifact'
  readonly append?: boolean | undefined
  readonly lastChunk?: boolean | undefined
}

/** The end of a run that did not fail. */
export interface FinishEvent {
  readonly type: 'finish'
  readonly finishReason: FinishReason
  readonly usage?: Usage | undefined
  readonly structured?: object | null | undefined
}

/** The end of a run that failed. `error` is masked in production unless the caller can mend it. */
export interface ErrorEvent {
  readonly type: 'error'
  readonly error: string
  readonly code: string
}

/** The two methods that make something servable. */
export interface Runnable {
  /** Runs to the end. Called only where there is no `stream`. */
  run(input: RunInput, options?: RunOptions): Promise<RunResult>
  /** Runs and tells what happens. It serves the JSON routes as well: their answer is folded from its events. */
  stream?(input: RunInput, options?: RunOptions): AsyncIterable<RunEvent>
}

/** The contract of an agent. Everything but the name and one of the two methods is optional in practice. */
export interface ServableAgent extends Runnable {
  readonly kind: 'agent'
  readonly name: string
  readonly description?: string | undefined
  /** The model behind the agent. The part of `provider` before its first dot chooses the key of a request. */
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  /** Tools that the agent may call. Lists show their names only. */
  readonly tools?: readonly Tool[] | undefined
  /** A schema of the structured output, if there is one. */
  readonly output?: unknown
  /** The bus on which the agent tells what it does. */
  readonly events?: EventBus | undefined
  /** What the agent can do beyond text, in the words of its maker: `['vision']`. */
  readonly capabilities?: readonly string[] | undefined
  /** Takes corrections of its output: into the state of the deployment, or a place of its own. */
  readonly corrections?: true | CorrectionStore | undefined
}

/** The contract of a team: agents behind one name. */
export interface ServableTeam extends Runnable {
  readonly kind: 'team'
  readonly name: string
  readonly description?: string | undefined
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  readonly members?: readonly { readonly name: string }[] | undefined
  readonly events?: EventBus | undefined
}

/** The contract of a workflow: named steps. */
export interface ServableWorkflow extends Runnable {
  readonly kind: 'workflow'
  readonly name: string
  readonly description?: string | undefined
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  readonly steps?: readonly { readonly name: string }[] | undefined
  readonly events?: EventBus | undefined
}

/** Anything that can be served. */
export type Servable = ServableAgent | ServableTeam | ServableWorkflow

/**
 * What is accepted in an explicit map, where the map gives the kind and the key gives the name: only `run` or
 * `stream` is needed.
 */
export type ServableLike<T extends Servable> = Partial<Omit<T, 'run' | 'stream'>> &
  (
    | { run: T['run']; stream?: NonNullable<T['stream']> }
    | { stream: NonNullable<T['stream']>; run?: T['run'] }
  )
