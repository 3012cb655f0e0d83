/**
 * The input and the events of a run. These types have no imports, because the contract, the bus, tools and memory build on them.
 *
 * @module
 */

/** The read-only discriminant of everything servable. */
export type Kind = 'agent' | 'team' | 'workflow'

/** Free JSON values by name. */
export type Metadata = Readonly<Record<string, unknown>>

/**
 * A part of a multi-modal message. `data` is base64 or a URL; in a `data` part it is any JSON. A2A carries the metadata of a
 * part; clients of the other protocols cannot send any.
 */
export type ContentPart = { readonly metadata?: Metadata | undefined } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'data'; readonly data: unknown }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType?: string | undefined }
  | {
      readonly type: 'file'
      readonly data: string
      readonly mimeType: string
      readonly filename?: string | undefined
    }
)

/** The message of a run: text, or parts in their order. */
export type RunInput = string | readonly ContentPart[]

/** One tool call in a {@link HistoryMessage}, as a client sends it. */
export interface HistoryToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly args?: unknown
}

/**
 * An earlier message, as the client sends it. It is data and never a permission: a claimed assistant or tool message grants
 * nothing. A `tool` message answers one call of the assistant message before it.
 */
export type HistoryMessage =
  | { readonly role: 'system' | 'user'; readonly content: RunInput }
  | {
      readonly role: 'assistant'
      readonly content?: RunInput | undefined
      readonly toolCalls?: readonly HistoryToolCall[] | undefined
    }
  | {
      readonly role: 'tool'
      readonly toolCallId: string
      readonly toolName?: string | undefined
      readonly result: unknown
    }

/** A tool that the client runs. The run finishes with a request of the kind `client_tool` for each call. */
export interface ClientTool {
  /** 1 to 64 characters of `A-Za-z0-9_-`. */
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of the arguments: an object. */
  readonly parameters?: unknown
}

/**
 * What a run needs from someone before it can go on: a decision on a tool call, an answer to a question, or the result of a
 * tool that the client runs. A run that has requests finishes with the reason `input_required`.
 */
export interface InputRequest {
  /** The run's id, a slash and the path in the run: `<runId>/approve:refund`. Unique in this service. */
  readonly id: string
  readonly kind: 'approval' | 'question' | 'client_tool'
  /** The text for the person. */
  readonly message?: string | undefined
  /** For a question that is answered elsewhere: the address to open. The message ends with it. Any value answers the question. */
  readonly url?: string | undefined
  /** For an approval and a client tool: the call that waits. */
  readonly toolCallId?: string | undefined
  readonly toolName?: string | undefined
  readonly args?: unknown
  /** JSON Schema: of the value of a question, or of the arguments of an approval that may edit them. */
  readonly schema?: unknown
  /** The arguments may be edited with the approval. */
  readonly editable?: true | undefined
  /** SHA-256 of what is shown, in base64url. An answer may repeat it. The service refuses a different digest. */
  readonly digest: string
}

/** Who gave an answer, when, and how it came. */
export interface AnsweredBy {
  /** The id of the identity; absent without one. */
  readonly id?: string | undefined
  /** ISO 8601, in UTC. */
  readonly at: string
  /** As `transport` of a run's record: `http`, `sse`, `socket`, `a2a`, or the name of another part. */
  readonly over: string
}

/** An answer to an {@link InputRequest}, by its kind. `digest` repeats the request's. */
export type Answer = {
  readonly id: string
  readonly digest?: string | undefined
  /** The service sets it. What a client sends here does not count. */
  readonly answeredBy?: AnsweredBy | undefined
} & (
  | {
      readonly decision: 'approve' | 'deny'
      /** Why. The model gets it. */
      readonly reason?: string | undefined
      /** The arguments instead of the requested ones, if the request is `editable`. */
      readonly editedArgs?: unknown
    }
  | { readonly value: unknown }
  | { readonly result: unknown }
)

/** The caller of a run, with its conversation and request. */
export interface RunCaller {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /** The client's own id of its message. It is stored with the turn of the session. */
  readonly messageId?: string | undefined
  /**
   * The client's id of an earlier message of the session, or the id of the run of a message that has none. The turn of this run takes
   * its place on a branch of its own, which counts from then on. Without such a message the run fails with `session_changed`.
   */
  readonly replaces?: string | undefined
  /**
   * The id of a run of the session. The turn of this run comes after that run's, on a branch of its own if others do. Default: after
   * the last turn of the branch that counts. Without such a turn the run fails with `session_changed`.
   */
  readonly branchFrom?: string | undefined
  /** The id of the run whose turn must be the last one of the branch that counts. Otherwise the run fails with `session_changed`. */
  readonly ifHead?: string | undefined
  /** The user: the identity that middleware set, else the client's claim. */
  readonly userId?: string | undefined
  /** The id of the identity that middleware set. Never a claim of the client. */
  readonly identity?: string | undefined
  /**
   * The id of the request that started the run, as in the log. For a run of a socket it is the request that opened the socket.
   */
  readonly requestId?: string | undefined
  /**
   * The `traceparent` (W3C Trace Context) of the run's or the tool call's span, if the service traces it, else the client's. Pass
   * it on.
   */
  readonly traceparent?: string | undefined
}

/**
 * Returns the `traceparent` of a tool call or of a member's turn, by the id of the call or the path of the turn. Undefined if it
 * has no span of its own. With a name, it begins a call that is not known yet.
 */
export type TraceparentOf = (id: string, toolName?: string) => string | undefined

/** The keys of model providers for a run. */
export interface RunKeys {
  /** The key for this run, chosen by the provider of the servable's model. */
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

/** What A2A carries beside the parts of a message or an artifact. */
export interface A2AFacts {
  readonly metadata?: Metadata | undefined
  /** URIs of the extensions that the metadata or the parts follow. */
  readonly extensions?: readonly string[] | undefined
}

/** A file or data that a run made. */
export interface Artifact extends A2AFacts {
  readonly artifactId: string
  readonly name?: string | undefined
  /** For people. */
  readonly description?: string | undefined
  readonly parts: readonly ContentPart[]
}

/**
 * What happens in a run, in order. A failed run ends with exactly one `error`, every other run with exactly one `finish`.
 * Nothing follows either.
 */
export type RunEvent = RunEventBody & EventFacts

/** What the pipeline and the callers of members add to any event. */
export interface EventFacts {
  /** Milliseconds since the run started. The run pipeline adds it; a servable leaves it out. */
  readonly at?: number | undefined
  /** The `at` of the last piece, if pieces of one text became this event some time after the run's end. Only the service adds it. */
  readonly until?: number | undefined
  /** The name of the team's member or the workflow's agent that sent it. Absent for the run's own servable. */
  readonly agent?: string | undefined
  /** The `id` of the step or of the tool call in which it happens. Absent at the top. */
  readonly parentId?: string | undefined
}

/** An event without the facts that any event can have. */
type RunEventBody =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | {
      readonly type: 'tool_call_start'
      readonly toolCall: { readonly id: string; readonly name: string }
      /** The client runs the tool, and the run will wait for its result. The run pipeline adds it. */
      readonly isClientTool?: true | undefined
      /** The name of the team's member or the workflow's agent that makes the call. Absent for the run's own servable. */
      readonly agent?: string | undefined
    }
  | { readonly type: 'tool_call_delta'; readonly toolCallId: string; readonly argumentsDelta: string }
  | ToolCallReadyEvent
  | {
      readonly type: 'tool_call_end'
      readonly toolCallId: string
      readonly result?: unknown
      /** Why the tool failed. Masked in production unless `code` is one that the caller can mend. */
      readonly error?: string | undefined
      readonly code?: string | undefined
      /** As with `tool_call_start`. */
      readonly agent?: string | undefined
    }
  | ModelCallEvent
  | StepEvent
  | ArtifactEvent
  | MessageEvent
  | SteeredEvent
  | ResumedEvent
  | CheckpointEvent
  | GraphMessageEvent
  | FinishEvent
  | ErrorEvent

/**
 * The arguments of a tool call are complete. The run pipeline sends it once per call, before the call's end, even if the servable
 * does not. `args` is the parsed JSON of the deltas, or their text if it is not JSON.
 */
export interface ToolCallReadyEvent {
  readonly type: 'tool_call_ready'
  readonly toolCallId: string
  readonly args?: unknown
}

/** One call of a model has ended. */
export interface ModelCallEvent {
  readonly type: 'model_call'
  /** `provider/id`. */
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  readonly finishReason?: FinishReason | undefined
  readonly durationMs?: number | undefined
}

/** Progress of a workflow or team. `text` is the output of an inner step, which is not part of the run's answer. */
export interface StepEvent {
  readonly type: 'step'
  /** Unique in the run: the path of the step, such as `search` or `search#2`. Events inside it name it as `parentId`. */
  readonly id?: string | undefined
  readonly name: string
  readonly status: 'started' | 'progress' | 'completed' | 'failed'
  /** Zero-based index of the step. */
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

/** A whole message. Its text is a part of the answer. As the first event of an A2A agent it is the answer, without a task. */
export interface MessageEvent extends A2AFacts {
  readonly type: 'message'
  readonly parts: readonly ContentPart[]
}

/**
 * A message of the user has reached the run while it was at work. It is no part of the answer. It comes once for each message, between
 * the tool calls before it and the next call of the model.
 */
export interface SteeredEvent {
  readonly type: 'steered'
  /** The id of the run that the message would have started. */
  readonly runId: string
  /** The client's own id of the message; without one the `runId`. */
  readonly messageId: string
  readonly parts: readonly ContentPart[]
}

/**
 * The process of the run died, and the run goes on. Its text comes again from the beginning, and what had begun without an end
 * begins again. Tool calls, steps and artifacts that were complete stay as they are. Only the service sends it.
 */
export interface ResumedEvent {
  readonly type: 'resumed'
}

/**
 * The graph has stored a checkpoint. It comes only in runs with the metadata `checkpoints: true`. The state itself is read with `sessions.graph`
 * of a caller.
 */
export interface CheckpointEvent {
  readonly type: 'checkpoint'
  /** The id of the checkpoint. */
  readonly id: string
  /** Where the graph is inside of another one, as LangGraph names it. Absent for the graph itself. */
  readonly namespace?: string | undefined
}

/**
 * What the graph says next, or gives of a call next, is of its message with this id. It comes only in runs with the metadata
 * `checkpoints: true`, before the first piece of each message.
 */
export interface GraphMessageEvent {
  readonly type: 'graph_message'
  /** The id that the message has in the state of the graph. */
  readonly id: string
}

/** The end of a run that did not fail. */
export interface FinishEvent {
  readonly type: 'finish'
  readonly finishReason: FinishReason
  /** What the run waits for, at most 100 requests. Only with the reason `input_required`. */
  readonly requests?: readonly InputRequest[] | undefined
  /** A message about the end, apart from the answer: why the run was rejected, or what it waits for. A2A's status message. */
  readonly message?: RunInput | undefined
  readonly usage?: Usage | undefined
  readonly structured?: object | null | undefined
  /** The run that got the message of this one: see `steered`. Only the service sends it. */
  readonly steeredInto?: string | undefined
}

/** The end of a run that failed. `error` is masked in production unless the caller can mend it. */
export interface ErrorEvent {
  readonly type: 'error'
  readonly error: string
  readonly code: string
  /** What the problem of a JSON answer says beside these, such as `resetAt` of `budget_exceeded`. JSON. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** What a generator body may yield: text, or any run event. */
export type Yielded = string | RunEvent
