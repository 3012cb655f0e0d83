/** Collects garbage and returns free memory, so that resident memory is memory in use. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

declare const Bun: { gc(isNow: boolean): void } | undefined

/** Answers `GET /gc`. */
export function collect(rounds = 3): string {
  if (typeof Bun !== 'undefined') Bun.gc(true)
  else {
    setFlagsFromString('--expose-gc')
    const gc: (options: object) => void = runInNewContext('gc')
    for (let round = 0; round < rounds; round++)
      gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }
  return 'collected'
}
