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

/** The caller of a run, with its conversation and request. */
export interface RunCaller {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /** The user: the identity that middleware set, else the client's claim. */
  readonly userId?: string | undefined
  /** The id of the identity that middleware set. Never a claim of the client. */
  readonly identity?: string | undefined
  /**
   * The id of the request that started the run, as in the log. For a run of a socket it is the request that opened the socket.
   */
  readonly requestId?: string | undefined
  /** The place in a distributed trace (W3C Trace Context). Pass it on. */
  readonly traceparent?: string | undefined
}

/** The keys of model providers for a run. */
export interface RunKeys {
  /** The model provider's key for this run, chosen by the provider of the servable's model. */
  readonly apiKey?: string | undefined
  /**
   * Every key of the request, by provider id and by each name that the provider matches. `'*'` is the key for any provider.
   * Never store, log or return them.
   */
  readonly apiKeys?: Readonly<Record<string, string>> | undefined
}

/** The tokens that one model used in a run. */
export interface ModelUsage {
  /** `provider/id`. Absent if the servable that used it names no model. */
  readonly model?: string | undefined
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** In USD, if it is reported. Otherwise `pricing` may give a price. */
  readonly cost?: number | undefined
}

/** Tokens that a run used, in whole tokens. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** The cost of the run in USD, if the servable knows it. */
  readonly cost?: number | undefined
  /** The use of each model, if the run has others inside it: a team's members, or the agents of a workflow's steps. */
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
 * What happens in a run, in order. A failed run ends with exactly one `error`, every other run with exactly one `finish`.
 * Nothing follows either.
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
