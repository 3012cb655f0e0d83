/**
 * The result of a model call: its answer, and the tool calls in it.
 *
 * @module
 */

import type { ModelMessage } from 'ai'
import type { FinishReason, Usage } from '../../agents/contract.ts'

/** A call of a tool that has no result. */
export interface OpenCall {
  readonly toolCallId: string
  /** The model's name of the tool. */
  readonly toolName: string
  readonly input: unknown
}

/** The result of a model call. */
export interface ModelAnswer {
  readonly finishReason: FinishReason
  /** Absent if the provider does not report it. */
  readonly usage?: Usage
  readonly structured: object | null
  /** The model's messages and its tools' answers, for the session. */
  readonly messages: readonly ModelMessage[]
  /** The calls that wait, because their tools are not called without asking. */
  readonly open: readonly OpenCall[]
  /** How many times the model was called. */
  readonly steps: number
  /** Whether nothing is left to do: the model needs no further result. */
  readonly isDone: boolean
}

/**
 * The calls in messages, in order, and those of them without a result. Ids may repeat: some models count from `call_0` in every
 * step.
 */
export function callsIn(messages: readonly ModelMessage[]): {
  readonly calls: readonly OpenCall[]
  readonly open: readonly OpenCall[]
} {
  const calls: OpenCall[] = []
  const open = new Map<string, OpenCall>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-call' && part.providerExecuted !== true) {
        const { toolCallId, toolName, input } = part
        const call = { toolCallId, toolName, input }
        calls.push(call)
        open.set(toolCallId, call)
      }
      if (part.type === 'tool-result') open.delete(part.toolCallId)
    }
  }
  return { calls, open: [...open.values()] }
}
