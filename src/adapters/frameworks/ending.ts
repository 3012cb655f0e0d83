/**
 * Reads the finish reasons and token counts of frameworks.
 *
 * @module
 */

import type { FinishReason, ModelCallEvent, Usage } from '../../agents/contract.ts'
import { fieldsOf, textIn } from './fields.ts'

/** The reasons of frameworks and providers, in lower case and with underscores. */
const REASONS: ReadonlyMap<string | undefined, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['tripwire', 'rejected'],
])

/** The finish reason of a run. Unspecific and unknown reasons become `stop`. */
export function toFinishReason(reason: unknown): FinishReason {
  return REASONS.get(textIn(reason)?.toLowerCase().replaceAll('-', '_')) ?? 'stop'
}

/** The token counts, if both are given or follow from the total. Zero tokens mean that the framework did not count. */
export function toUsage(value: unknown): Usage | undefined {
  const usage = fieldsOf(value)
  const total = tokensIn(usage.totalTokens ?? usage.total_tokens)
  const input = tokensIn(usage.inputTokens ?? usage.input_tokens)
  const output = tokensIn(usage.outputTokens ?? usage.output_tokens)
  const promptTokens = input ?? rest(total, output)
  const completionTokens = output ?? rest(total, input)
  if (promptTokens === undefined || completionTokens === undefined) return undefined
  const totalTokens = total ?? promptTokens + completionTokens
  return totalTokens === 0 ? undefined : { promptTokens, completionTokens, totalTokens }
}

/** The event of a model call, with the known facts. `finishReason` is in the framework's words. */
export function modelCall({
  model,
  usage,
  finishReason,
  durationMs,
}: {
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  readonly finishReason?: unknown
  readonly durationMs?: number | undefined
}): ModelCallEvent {
  return {
    type: 'model_call',
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(textIn(finishReason) !== undefined && { finishReason: toFinishReason(finishReason) }),
    ...(durationMs !== undefined && { durationMs: Math.round(durationMs * 1000) / 1000 }),
  }
}

function tokensIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

function rest(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined ? undefined : Math.max(0, total - part)
}
