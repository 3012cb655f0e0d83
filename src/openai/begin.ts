/**
 * Starts the run of a request, or lets the one go on that waits for it.
 *
 * @module
 */

import type { Core } from '../core/built-in.ts'
import { ServableError } from '../errors.ts'
import type { AnswerOutcome } from '../http/go-on.ts'
import type { AskedRun, Asker, StartedRun } from '../http/start-run.ts'
import type { Answers } from './answers.ts'

/** Answers what waits, or else starts what is asked for. */
export async function begin(
  core: Pick<Core, 'start' | 'answer'>,
  asker: Asker,
  answers: Answers | undefined,
  how: Pick<AskedRun, 'isBackground' | 'keepsInput'>,
  asked: () => Promise<AskedRun>,
): Promise<StartedRun> {
  if (answers === undefined) return core.start({ ...(await asked()), ...how }, asker)
  const { id, answers: given } = answers
  const { started }: AnswerOutcome = await core.answer({ id, answers: given, ...how }, asker)
  if (started !== undefined) return started
  throw new ServableError('request_changed', 'The run waits for something else by now')
}
