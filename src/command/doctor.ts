/**
 * `servable doctor`: checks a running service, or what `servable start` would serve.
 *
 * @module
 */

import process from 'node:process'
import { type Style, shown } from '../features/logs/shown.ts'
import { type Check, checkUrl } from './doctor-url.ts'
import type { Screen } from './screen.ts'
import { EXIT, type Options, serviceOf, textOf, UsageError } from './service.ts'

const STYLES: Readonly<Record<Check['status'], Style>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  unknown: 'dim',
}

/** Most characters of a text that a service or an error gave. */
const MAX_TEXT = 500

/** Writes a line for each check. Returns 1 if one failed. Throws `UsageError` and the errors of the client. */
export async function doctorCommand(
  target: string | undefined,
  options: Options,
  screen: Screen,
): Promise<number> {
  const checks = await checksOf(target, options)
  for (const each of checks) {
    if (options.json === true) await screen.json(each)
    else await screen.line(lineOf(each, screen))
  }
  return checks.some(({ status }) => status === 'fail') ? EXIT.failed : EXIT.ok
}

async function checksOf(target: string | undefined, options: Options): Promise<Check[]> {
  const isAddress = target !== undefined && /^https?:\/\//i.test(target)
  const reach = textOf(options, 'reach')
  if (isAddress && options.url !== undefined) throw new UsageError('Give the address once')
  if (isAddress || options.url !== undefined) {
    if (reach !== undefined) throw new UsageError('--reach is for `servable doctor` where the service runs')
    return checkUrl(await serviceOf(isAddress ? { ...options, url: target } : options))
  }
  if (reach !== undefined && !URL.canParse(reach)) throw new UsageError('--reach must be an address')
  const { checkHere } = await import('./doctor-here.ts')
  return checkHere({ path: target, cwd: process.cwd(), reach })
}

function lineOf({ status, what, fix }: Check, { paint }: Screen): string {
  const word = paint(STYLES[status], status.padEnd(7))
  return `${word}  ${shown(what, MAX_TEXT)}${fix === undefined ? '' : `  → ${shown(fix, MAX_TEXT)}`}`
}
