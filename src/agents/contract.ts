/**
 * The contracts of agents, teams and workflows. Any object that fits is servable. The classes of this folder are ready-made
 * implementations.
 *
 * The door `agents` is what authors write. Begin here, then `agent.ts`, `team.ts` and `workflow.ts`. What a body names so that
 * it is done once is in `work/` (begin with `work/perform.ts`). May import `base` alone.
 *
 * @module
 */

import type { AppPage } from './app-page.ts'
import type { EventBus } from './bus.ts'
import type { CorrectionStore } from './corrections.ts'
import type { GraphThreads } from './graph.ts'
import type { RunMemory, Steering } from './memory.ts'
import type {
  Answer,
  Artifact,
  ClientTool,
  FinishReason,
  HistoryMessage,
  InputRequest,
  RunCaller,
  RunEvent,
  RunInput,
  RunKeys,
  TraceparentOf,
  Usage,
} from './run-types.ts'
import type { Tool } from './tool.ts'
import type { WorkState } from './work/work.ts'

export type {
  Answer,
  AnsweredBy,
  Artifact,
  ArtifactEvent,
  ClientTool,
  ContentPart,
  ErrorEvent,
  EventFacts,
  FinishEvent,
  FinishReason,
  HistoryMessage,
  InputRequest,
  Kind,
  MessageEvent,
  ModelCallEvent,
  ModelUsage,
  RunEvent,
  RunInput,
  StepEvent,
  ToolCallReadyEvent,
  TraceparentOf,
  Usage,
} from './run-types.ts'

/** What the caller of a run passes to the servable. Every member is optional. */
export interface RunOptions extends RunCaller, RunKeys {
  /** The memory of earlier runs of the same owner. */
  readonly memory?: RunMemory | undefined
  /**
   * Earlier turns of the conversation, oldest first, as the client sends them. Given only if the run has no memory of its own.
   */
  readonly history?: readonly HistoryMessage[] | undefined
  /** Tools that the client runs. A servable that takes none ignores them. */
  readonly clientTools?: readonly ClientTool[] | undefined
  /** The answers to the requests of the run that this run continues. */
  readonly answers?: readonly Answer[] | undefined
  /**
   * State that an agent keeps with a run that waits, and finds again in the run that goes on. JSON, at most 1 Mi characters.
   */
  readonly work?: WorkState | undefined
  /** The messages that reach the run while it is at work. Given to a servable with `steering`, if the run has a session. */
  readonly inbox?: Steering | undefined
  /** Whether the message of the run may reach the run at work of its session. The service sets it. */
  readonly steers?: boolean | undefined
  /** Fires when the run is cancelled, times out, or loses its client or reader. Pass it to everything that waits. */
  readonly signal?: AbortSignal | undefined
  /** The id of the run: a UUID unless the caller chose one. */
  readonly runId?: string | undefined
  /** Returns the `traceparent` of a call or turn in the run. The run pipeline passes it if the service traces. */
  readonly traceparentOf?: TraceparentOf | undefined
  /** Further facts of the transport, such as A2A's task and context ids. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** One tool call of a run. */
export interface ToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: string | undefined
  /** The agent that made the call, if it is not the run's own: the name of a team's member, or of a workflow's agent. */
  readonly agent?: string | undefined
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
  /** The validated object of an agent with structured output, else null. */
  readonly structured: object | null
  /** Milliseconds from the start of the run to its end. */
  readonly durationMs: number
  readonly finishReason: FinishReason
  readonly runId: string
  /** The steps of a workflow or team, in the order in which they ended. */
  readonly steps?: readonly Step[] | undefined
  /** The artifacts of the run, with their chunks joined. */
  readonly artifacts?: readonly Artifact[] | undefined
  /** What the run waits for, if it finished with `input_required`. */
  readonly requests?: readonly InputRequest[] | undefined
  /** What the servable reports about the end, apart from the answer. */
  readonly message?: RunInput | undefined
  /** The run that got the message of this one while it was at work. This one then has no answer. */
  readonly steeredInto?: string | undefined
}

/** The result of a servable: text, or the parts of a {@link RunResult} that it knows. */
export type RunOutcome = string | Partial<RunResult> | undefined

/** The two methods that make something servable. */
export interface Runnable {
  /** Runs to the end. Called only if there is no `stream`. */
  run(input: RunInput, options?: RunOptions): Promise<RunResult>
  /** Runs and yields events. The JSON routes use it too and fold their answer from its events. */
  stream?(input: RunInput, options?: RunOptions): AsyncIterable<RunEvent>
}

/** How clients should ask for input, for their forms. */
export interface InputHints {
  /**
   * A schema of the data that it takes as one `data` part, shown to clients as `inputSchema`. The service checks no input against it.
   */
  readonly input?: unknown
  /** Example prompts: 1 to 20 texts of 1 to 2,000 characters. */
  readonly examples?: readonly string[] | undefined
  /** A page that shows its results. */
  readonly page?: AppPage | undefined
}

/** What the contracts of all kinds share. */
interface Described extends Runnable, InputHints {
  readonly name: string
  readonly description?: string | undefined
  /** The model behind it. The part of `provider` before its first dot chooses the key of a request. */
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  /** If the process of a stored run dies, the run goes on with its completed named work. Default: it ends as `interrupted`. */
  readonly resume?: boolean | undefined
  /**
   * Whether it takes messages while it is at work (`inbox.take()` of its options). Messages that it does not take start the next run.
   * Default: every message waits for a run of its own.
   */
  readonly steering?: boolean | undefined
  /** A run goes on only with the same version. */
  readonly version?: string | undefined
  /** The bus that gets its events. */
  readonly events?: EventBus | undefined
}

/** The contract of an agent. It needs a name and one of the two methods; everything else is optional. */
export interface ServableAgent extends Described {
  readonly kind: 'agent'
  /** The most tokens of one answer of its model. Budgets reserve by it. */
  readonly maxOutputTokens?: number | undefined
  /** Tools that the agent may call. Lists show their names only. */
  readonly tools?: readonly Tool[] | undefined
  /** A schema of the structured output, if there is one. */
  readonly output?: unknown
  /** What the agent can do beyond text, in the words of its maker: `['vision']`. */
  readonly capabilities?: readonly string[] | undefined
  /** A2A answers with a message, or with a task if another event comes first. */
  readonly answers?: 'message' | undefined
  /** Accepts corrections of its output: `true` keeps them in the state, a store keeps them itself. */
  readonly corrections?: true | CorrectionStore | undefined
  /** The threads of a graph: their states can be read and changed between runs. */
  readonly graph?: GraphThreads | undefined
}

/** The contract of a team: agents behind one name. */
export interface ServableTeam extends Described {
  readonly kind: 'team'
  readonly members?: readonly { readonly name: string }[] | undefined
}

/** The contract of a workflow: named steps. */
export interface ServableWorkflow extends Described {
  readonly kind: 'workflow'
  readonly steps?: readonly { readonly name: string }[] | undefined
}

/** Anything that can be served. */
export type Servable = ServableAgent | ServableTeam | ServableWorkflow

/** An entry of an explicit map. The map gives the kind and the key gives the name, so only `run` or `stream` is needed. */
export type ServableLike<T extends Servable> = Partial<Omit<T, 'run' | 'stream'>> &
  (
    | { run: T['run']; stream?: NonNullable<T['stream']> }
    | { stream: NonNullable<T['stream']>; run?: T['run'] }
  )
