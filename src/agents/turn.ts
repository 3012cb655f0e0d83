import type { FinishReason, Kind, RunInput } from './run-types.ts'

/**
 * How a turn stands. `cut`: the run was cancelled, or it failed after it had said something. `interrupted`: the process that ran it
 * is gone.
 */
export type TurnStatus = 'running' | 'completed' | 'cut' | 'failed' | 'interrupted'

/** One run of a session: what was said to it, and what it said. It never holds a provider key. */
export interface Turn {
  readonly runId: string
  readonly kind: Kind
  /** The name under which it was asked for. */
  readonly name: string
  /** The client's own id of its message. */
  readonly messageId?: string | undefined
  /** The run that this one continues. `input` is that one's. */
  readonly continuedFrom?: string | undefined
  /** The message. With `files()` large files have their addresses; else they are named, and their content is not kept. */
  readonly input: RunInput
  /** What was said; of structured output without a text its JSON. */
  readonly text?: string | undefined
  /** The first 100 calls of tools. */
  readonly toolCalls?: readonly TurnToolCall[] | undefined
  /** Once the run has ended without failing. */
  readonly finishReason?: FinishReason | undefined
  /** The code of the error, once the run has failed. */
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

/** What is known of a turn once it has ended. */
export type TurnEnd = Pick<Turn, 'text' | 'toolCalls' | 'finishReason' | 'error' | 'status' | 'endedAt'>
