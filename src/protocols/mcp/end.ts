/**
 * Makes the result of a call from the end of its run.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import { failed, resultOf, type ToolResult } from './content.ts'
import type { Offered } from './offer.ts'
import { INTERNAL_ERROR, RpcError } from './rpc.ts'
import type { CallOutcome } from './run-reader.ts'

/** Codes of failures of the service. All other failures are results, because the client's model may correct or report them. */
const OURS = /^(internal_error|interrupted|invalid_event)$/

/** The result of a run that has ended. Throws an {@link RpcError} for a failure of the service. */
export function endOf(
  outcome: CallOutcome,
  { request, tool }: { readonly request: Request; readonly tool: Offered },
  { publicUrl = request.url }: Pick<Core, 'publicUrl'>,
): ToolResult & { readonly _meta?: object } {
  if ('error' in outcome) {
    const { code, error } = outcome.error
    if (OURS.test(code)) throw new RpcError(INTERNAL_ERROR, error, 200, { code })
    return failed(error)
  }
  const { finishReason, runId, structured } = outcome.result
  if (finishReason === 'cancelled') return failed('The run was cancelled')
  const result = resultOf(outcome.result, publicUrl)
  // A client refuses a result without the structured content that was promised.
  const isShort = structured === null && tool.outputSchema
  const hasFailed = isShort || /^(rejected|auth_required)$/.test(finishReason)
  return { ...result, ...(hasFailed && { isError: true }), _meta: { 'servable/runId': runId } }
}
