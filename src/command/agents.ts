/**
 * `servable agents`: pauses and resumes what a service serves.
 *
 * @module
 */

import { createClient } from '../client/client.ts'
import { shown } from '../features/logs/shown.ts'
import type { Screen } from './screen.ts'
import { EXIT, type Options, serviceOf, targetOf, textOf, UsageError } from './service.ts'

/** Runs one action and returns the exit code. Throws {@link UsageError} and the errors of the client. */
export async function agentsCommand(
  act: string,
  name: string | undefined,
  options: Options,
  screen: Screen,
): Promise<number> {
  if (act !== 'pause' && act !== 'resume')
    throw new UsageError(`\`agents ${shown(act, 40)}\` is unknown: use pause or resume`)
  const given = targetOf(options)
  const target = name ? { kind: 'agent' as const, name } : given
  if (target === undefined || (name && given))
    throw new UsageError(`Give the name of an agent, --team or --workflow: servable agents ${act} <name>`)
  const client = createClient(await serviceOf(options))
  const answer =
    act === 'pause' ? await client.pause(target, textOf(options, 'reason')) : await client.resume(target)
  if (options.json === true) await screen.json(answer)
  else await screen.line(`${act === 'pause' ? 'Paused' : 'Resumed'} the ${target.kind} ${shown(target.name)}`)
  return EXIT.ok
}
