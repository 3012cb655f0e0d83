/**
 * `servable start`: serves the agents of a file or a folder in production.
 *
 * @module
 */

import process from 'node:process'
import { createHandler } from '../../handler.ts'
import { credentialOf } from '../../http/security/credential.ts'
import type { HandlerOptions } from '../../options.ts'
import { LOOPBACK_NAME } from '../../web/ip-address.ts'
import { EXIT, numberOf, type Options, UsageError } from '../service.ts'
import { optionsHere } from './options.ts'
import { addressOf, listenAt, readEnv } from './serving.ts'

/** Seconds that runs have after SIGTERM. Platforms kill after 30. */
const GRACE_S = 25

/** Serves until SIGTERM or Ctrl-C. Returns the exit code. */
export async function startCommand(path: string | undefined, options: Options): Promise<number> {
  const cwd = process.cwd()
  process.env.NODE_ENV ??= 'production'
  await readEnv(cwd)
  const address = addressOf(options)
  const graceMs = 1000 * (numberOf(options, 'grace', 0, 3600) ?? GRACE_S)
  const here = await optionsHere({ path, cwd, production: true, console: options.console === true })
  if (!LOOPBACK_NAME.test(address.hostname) && options.public !== true)
    checkAccess(here.options, address.hostname)
  const server = await listenAt(createHandler(here.options), address)
  await new Promise(resolve => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve)
  })
  // The second signal does not wait.
  const leave = () => process.exit(EXIT.left)
  process.once('SIGTERM', leave).once('SIGINT', leave)
  await server.close({ graceMs })
  return EXIT.ok
}

/** Throws unless a ready-made middleware asks for a credential. */
function checkAccess({ middleware = [] }: HandlerOptions, hostname: string): void {
  if (middleware.some(each => credentialOf(each) !== undefined)) return
  throw new UsageError(
    `Everyone who reaches ${hostname} could run these agents. Add authentication as \`middleware\` to servable.config.ts, such as ` +
      '`bearerAuth`, or say --public if that is meant, or if your own middleware or a proxy asks for a login',
  )
}
