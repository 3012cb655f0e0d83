/**
 * What a handler with a state does with stored runs: it reads them, answers them, and lets them go on. A state brings it, so that a handler
 * without one carries none of it.
 *
 * @module
 */

import type { Route } from '../http/context.ts'
import { againRoutes } from '../http/routes/again-routes.ts'
import { answerRoute } from '../http/routes/answer-route.ts'
import { storedRunRoutes } from '../http/routes/stored-run-routes.ts'
import {
  type AnswerRun,
  createAnswerRun,
  createRunAgain,
  type GoOnParts,
  type RunAgain,
} from '../http/runs/go-on.ts'
import type { StartRun } from '../http/runs/start-run.ts'
import type { Core } from './built-in.ts'

/** How a handler handles stored runs. */
export interface StoredRuns {
  answerRun(parts: GoOnParts): AnswerRun
  runAgain(parts: GoOnParts & { readonly start: StartRun }): RunAgain
  routes(core: Core): readonly Route[]
}

/** That of every state. */
export const STORED_RUNS: StoredRuns = {
  answerRun: createAnswerRun,
  runAgain: createRunAgain,
  routes({ settings, prefix, host, answer, again, readKeys, maxBodyBytes, openStream: countStream, runs }) {
    const { listAnonymous } = settings.runs
    return [
      ...storedRunRoutes({ prefix, host, listAnonymous, countStream, permit: runs.permit }),
      answerRoute({ prefix, host, answerRun: answer, readKeys, maxBodyBytes, countStream }),
      ...againRoutes({ prefix, host, again, readKeys, maxBodyBytes, countStream }),
    ]
  },
}
