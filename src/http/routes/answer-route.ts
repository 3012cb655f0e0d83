/**
 * `POST /runs/:id/answers`: answers a run's requests.
 *
 * @module
 */

import { parseAnswers } from '../../runs/waiting/answers.ts'
import { readJson, requireJson } from '../../web/body.ts'
import type { Reply } from '../../web/reply.ts'
import type { Route } from '../context.ts'
import { joinPath } from '../router.ts'
import type { AnswerRun } from '../runs/go-on.ts'
import { prefersAsync } from '../runs/run-request.ts'
import { shownTo } from '../runs/shown-to.ts'
import { RequestAsker } from '../security/asker.ts'
import type { KeyReader } from '../security/key-headers.ts'
import { type StartedReplyOptions, startedReply } from './run-routes.ts'
import { jsonOfRecord, runIdOf } from './stored-run-routes.ts'

/** The options of the route. */
export interface AnswerRouteOptions extends StartedReplyOptions {
  readonly answerRun: AnswerRun
  readonly readKeys: KeyReader
  readonly maxBodyBytes: number
}

/**
 * Makes the route. Until the last request is answered it returns the run's record, with the open requests. The last answer starts
 * the next run and returns its result, its events if the client accepts `text/event-stream`, or 202 with its record.
 */
export function answerRoute(options: AnswerRouteOptions): Route {
  const { prefix, answerRun, readKeys, maxBodyBytes } = options
  return {
    method: 'POST',
    path: joinPath(prefix, 'runs/:id/answers'),
    part: 'runs',
    async endpoint(request, state): Promise<Reply> {
      const id = runIdOf(state)
      requireJson(request)
      const { answers, apiKey, background } = parseAnswers(await readJson(request, maxBodyBytes))
      const isAsync = prefersAsync(request.headers)
      const asked = { id, answers, apiKey, isBackground: isAsync || background === true }
      const { record, started } = await answerRun(asked, new RequestAsker(request, state, readKeys))
      if (started?.record === undefined)
        return jsonOfRecord('goesOn' in record ? record : shownTo(state, record))
      return startedReply(started, request, state, options)
    },
  }
}
