import type { FinishReason, Kind, RunEvent, RunInput } from './run-types.ts'

/**
 * The status of a turn. `cut`: the run was cancelled, or it failed after its first output. `interrupted`: the process that ran it
 * is gone.
 */
export type TurnStatus = 'running' | 'completed' | 'cut' | 'failed' | 'interrupted'

/** A message that reached a run at work. */
export interface SteeredMessage {
  /** The id of the run that the message would have started. Unique in this service. */
  readonly runId: string
  /** The client's own id of the message; without one the `runId`. */
  readonly messageId: string
  /** Who sent it: the authenticated user, or else whom the client claimed to be. */
  readonly userId?: string | undefined
  readonly input: RunInput
  /** When the run got it, in milliseconds since 1970. */
  readonly at: number
}

/** What readers of a run get when it takes a message. */
export function steeredEvent({ runId, messageId, input }: SteeredMessage): RunEvent {
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input
  return { type: 'steered', runId, messageId, parts }
}

/** One run of a session: its message and its answer. It never holds a provider key. */
export interface Turn {
  readonly runId: string
  readonly kind: Kind
  /** The name under which it was requested. */
  readonly name: string
  /** The client's own id of its message. */
  readonly messageId?: string | undefined
  /** The run that this one continues. `input` is that run's. */
  readonly continuedFrom?: string | undefined
  /** The message. With `files()`, large files are replaced by their addresses; without it, by their names. */
  readonly input: RunInput
  /** The messages that the run got while it was at work, in their order. At most 100. */
  readonly steered?: readonly SteeredMessage[] | undefined
  /** The answer's text. For structured output without text, its JSON. */
  readonly text?: string | undefined
  /** The first 100 tool calls. */
  readonly toolCalls?: readonly TurnToolCall[] | undefined
  /** Set once the run has ended without failing. */
  readonly finishReason?: FinishReason | undefined
  /** The code of the error, if the run failed. */
  readonly error?: string | undefined
  readonly status: TurnStatus
  /** When the run began its work, in milliseconds since 1970. */
  readonly at: number
  readonly endedAt?: number | undefined
}

/** A call of a tool in a turn. */
export interface TurnToolCall {
  readonly toolCallId: string
  readonly toolName: string
}

/** The members of a turn that are known once it has ended. */
export type TurnEnd = Pick<Turn, 'text' | 'toolCalls' | 'finishReason' | 'error' | 'status' | 'endedAt'>

/** A turn among the branches of its session. */
export interface TreeTurn extends Turn {
  /** The run of the turn before it. Absent for the first one, and where that one is deleted. */
  readonly after?: string | undefined
}

/** All turns of a session. */
export interface TurnTree {
  /** In the order in which they began. */
  readonly turns: readonly TreeTurn[]
  /** The run of the last turn of the branch that counts. Absent without turns. */
  readonly head?: string | undefined
}
