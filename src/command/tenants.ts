/**
 * `servable tenants`: deletes all that is kept of a tenant.
 *
 * @module
 */

import { createCaller } from '../client/call.ts'
import { queryOf, segment } from '../client/sent.ts'
import { shown, shownCount } from '../features/logs/shown.ts'
import type { Screen } from './screen.ts'
import { EXIT, isWanted, type Options, serviceOf, UsageError } from './service.ts'

/** Most requests of one deletion. Each deletes the data of up to 20 users. */
const MAX_REQUESTS = 10_000

/** Runs one action and returns the exit code. Throws {@link UsageError} and the errors of the client. */
export async function tenantsCommand(
  act: string,
  tenant: string | undefined,
  options: Options,
  screen: Screen,
): Promise<number> {
  if (act !== 'delete') throw new UsageError(`\`tenants ${shown(act, 40)}\` is unknown: use delete`)
  if (!tenant) throw new UsageError('Give the name of a tenant: servable tenants delete <tenant>')
  const caller = createCaller(await serviceOf(options))
  const what = `all that is kept of the tenant ${shown(tenant)}`
  if (options.yes !== true && !(await isWanted(`Delete ${what}? [y/N] `))) {
    screen.note('Nothing was deleted')
    return EXIT.failed
  }
  const query = queryOf(options.cancel === true ? { running: 'cancel' } : {})
  let count = 0
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const path = `/tenants/${segment(tenant)}${query}`
    const { owners, isDone } = await caller.ask<{ owners: number; isDone: boolean }>(path, undefined, {
      method: 'DELETE',
    })
    count += owners
    screen.progress(`${shownCount(count, 'user')} …`)
    if (!isDone) continue
    if (options.json === true) await screen.json({ deleted: { tenant, users: count } })
    else await screen.line(`Deleted ${what}: ${shownCount(count, 'user')}`)
    return EXIT.ok
  }
  screen.note('Users of the tenant are still at work: stop them, and repeat the command')
  return EXIT.failed
}
