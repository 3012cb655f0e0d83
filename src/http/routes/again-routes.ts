/**
 * `POST /runs/:id/resume`, with which an interrupted run goes on, and `POST /runs/:id/retry`, which runs an input again.
 *
 * @module
 */

import * as v from 'valibot'
import type { RunInput } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject, validate } from '../../base/validation.ts'
import { runBodyFields } from '../../runs/input.ts'
import { readJson, requireJson } from '../../web/body.ts'
import type { Reply } from '../../web/reply.ts'
import type { RequestState, Route } from '../context.ts'
import { joinPath } from '../router.ts'
import type { RunAgain } from '../runs/go-on.ts'
import { idempotencyKeyOf } from '../runs/idempotency.ts'
import { prefersAsync } from '../runs/run-request.ts'
import type { StartedRun } from '../runs/start-run.ts'
import { RequestAsker } from '../security/asker.ts'
import type { KeyReader } from '../security/key-headers.ts'
import { type StartedReplyOptions, startedReply } from './run-routes.ts'
import { runIdOf } from './stored-run-routes.ts'

/** The options of the routes. */
export interface AgainRoutesOptions extends StartedReplyOptions {
  readonly again: RunAgain
  readonly readKeys: KeyReader
  readonly maxBodyBytes: number
}

/** The body of both routes: a key of a model's provider, and whether the run outlives its client. */
export const AgainBodySchema: v.GenericSchema<unknown, { apiKey?: string; background?: boolean }> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({ apiKey: runBodyFields.apiKey, background: runBodyFields.background }),
) as never

/** Makes the routes. Each answers as a run does: its result, its events if the client accepts them, or 202 with its record. */
export function againRoutes(options: AgainRoutesOptions): Route[] {
  const { prefix, again, readKeys } = options
  const route = (name: 'resume' | 'retry'): Route => ({
    method: 'POST',
    path: joinPath(prefix, 'runs/:id', name),
    part: 'runs',
    async endpoint(request: Request, state: RequestState): Promise<Reply> {
      const id = runIdOf(state)
      const { background = false, ...body } = await readBody(
        request,
        name === 'retry' ? RetryBodySchema : AgainBodySchema,
        options,
      )
      // Who acts for an owner says nothing in the owner's name.
      if (state.isForOther && (body.input !== undefined || body.sessionId !== undefined))
        throw new ServableError(
          'forbidden',
          '`input` and `sessionId`: only the owner of the run may change them',
        )
      const isBackground = background || prefersAsync(request.headers)
      const key = idempotencyKeyOf(request.headers)
      const asker = new RequestAsker(request, state, readKeys)
      const started: StartedRun = await again[name]({ ...body, id, isBackground, key }, asker)
      return startedReply(started, request, state, options)
    },
  })
  return [route('resume'), route('retry')]
}

/** The body of a retry: what is different. */
interface RetryBody {
  readonly apiKey?: string
  readonly background?: boolean
  readonly input?: RunInput
  readonly sessionId?: string | null
  readonly from?: string
}

export const RetryBodySchema: v.GenericSchema<unknown, RetryBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    apiKey: runBodyFields.apiKey,
    background: runBodyFields.background,
    input: v.optional(runBodyFields.input),
    sessionId: v.nullish(runBodyFields.sessionId),
    from: v.optional(
      v.pipe(
        v.string(),
        v.nonEmpty('must not be empty'),
        v.maxLength(2000, 'must have at most 2,000 characters'),
      ),
    ),
  }),
) as never

/** Reads the body, which may be left out, as may its content type. */
async function readBody(
  request: Request,
  schema: v.GenericSchema<unknown, RetryBody>,
  { maxBodyBytes }: AgainRoutesOptions,
): Promise<RetryBody> {
  if (!request.headers.has('content-type')) return {}
  requireJson(request)
  return validate(schema, await readJson(request, maxBodyBytes), 'invalid_body', 'body')
}
