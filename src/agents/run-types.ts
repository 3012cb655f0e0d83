/**
 * What a run is given and what happens in it. The contract is made of it, and so is what the contract names: the bus, tools,
 * memory.
 *
 * @module
 */

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

/** Who asks for a run, and in which conversation and request. */
export interface RunCaller {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /** Who asks: the identity that middleware set, else what the client claims. */
  readonly userId?: string | undefined
  /** The id of the identity that middleware set; never a claim of the client's. */
  readonly identity?: string | undefined
  /** The id of the request that started the run, as the log has it: of a socket's run, of the request that opened it. */
  readonly requestId?: string | undefined
  /** The request's place in a distributed trace (W3C Trace Context), to be passed on. */
  readonly traceparent?: string | undefined
}

/** The model provider's keys of a run. */
export interface RunKeys {
  /** The model provider's key for this run, chosen by the provider of the servable's model. */
  readonly apiKey?: string | undefined
  /**
   * Every key of the request: by provider id and by each name the provider matches, and under `'*'` the one that
   * goes to whatever provider is used. Never store, log or return them.
   */
  readonly apiKeys?: Readonly<Record<string, string>> | undefined
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
