/** Warns that limits by address do not work because no client's address is known. */

import type { Log } from '../log.ts'

const REPORT = Symbol.for('servable.no-address')

/** Makes the function that logs once that no address is known, and the effect on the limits. */
export function createNoAddress(log: Log, effectsOf: () => readonly string[]): () => void {
  let isReported = false
  return () => {
    const effects = isReported ? [] : effectsOf()
    if (effects.length === 0) return
    isReported = true
    log({
      level: 'warn',
      event: 'limits.no_address',
      message:
        `The address of clients is unknown: ${effects.join(', and ')}. Set \`trustProxy\` if a proxy of yours tells it, ` +
        'or serve with an entry that reads it (`servable/node`, `bun`, `deno`, `cloudflare`)',
    })
  }
}

/** Lets a server report at its start that it knows no address. */
export function withNoAddress<H extends object>(handler: H, report: () => void): H {
  return Object.assign(handler, { [REPORT]: report })
}

/** Reports it. Does nothing for other functions, and for a handler that needs no report. */
export function reportNoAddress(handler: object): void {
  ;(handler as { readonly [REPORT]?: () => void })[REPORT]?.()
}
