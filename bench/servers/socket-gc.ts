/** Collects garbage where the runtime lets it, so that what is resident is what is held. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

declare const Bun: { gc(isNow: boolean): void } | undefined

/** Answers `GET /gc`. */
export function collect(): string {
  if (typeof Bun !== 'undefined') Bun.gc(true)
  else {
    setFlagsFromString('--expose-gc')
    for (let round = 0; round < 3; round++) (runInNewContext('gc') as () => void)()
  }
  return 'collected'
}
