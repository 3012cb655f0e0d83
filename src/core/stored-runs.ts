/**
 * What a handler with a state does with stored runs: it starts them, reads them, answers them, and lets them go on. A state brings it, so that a handler
 * without one carries none of it.
 *
 * @module
 */

import type { MemoryStorage } from '../agents/memory.ts'
import type { Catalog } from '../http/catalog.ts'
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
import type { StartRun, StoredStarts } from '../http/runs/start-run.ts'
import { STORED_STARTS } from '../http/runs/start-stored.ts'
import type { KeyReader } from '../http/security/key-headers.ts'
import type { Permit } from '../runs/permit.ts'
import type { RunHost } from '../runs/stored/host.ts'
import type { StreamCount } from '../web/sse.ts'
import { deletingStates } from './run-states.ts'
import { sessionPartsOf } from './session-parts.ts'

/** How a handler handles stored runs. */
export interface StoredRuns {
  readonly starts: StoredStarts
  readonly sessionPartsOf: typeof sessionPartsOf
  /** The host of the handler, around that of the state. */
  hostOf(host: RunHost, catalog: Catalog, memory: MemoryStorage): RunHost
  answerRun(parts: GoOnParts): AnswerRun
  runAgain(parts: GoOnParts & { readonly start: StartRun }): RunAgain
  routes(parts: StoredRouteParts): readonly Route[]
}

/** The parts of a handler that the routes need. */
export interface StoredRouteParts {
  readonly prefix: string
  readonly host: RunHost
  readonly answer: AnswerRun
  readonly again: RunAgain
  readonly readKeys: KeyReader
  readonly maxBodyBytes: number
  readonly openStream: StreamCount | undefined
  /** Whether everyone may list runs without an owner. */
  readonly listAnonymous: boolean
  readonly permit: Permit | undefined
}

/** That of every state. */
export const STORED_RUNS: StoredRuns = {
  starts: STORED_STARTS,
  sessionPartsOf,
  hostOf: deletingStates,
  answerRun: createAnswerRun,
  runAgain: createRunAgain,
  routes({ prefix, host, answer, again, readKeys, maxBodyBytes, openStream: countStream, ...more }) {
    return [
      ...storedRunRoutes({ prefix, host, countStream, ...more }),
      answerRoute({ prefix, host, answerRun: answer, readKeys, maxBodyBytes, countStream }),
      ...againRoutes({ prefix, host, again, readKeys, maxBodyBytes, countStream }),
    ]
  },
}
