/** What is said where limits go by the client's address, and nobody knows it. */

import type { Log } from '../log.ts'

const TELL = Symbol.for('servable.no-address')

/** Logs once that no address is known, and what becomes of the limits. */
export function createNoAddress(log: Log, effectsOf: () => readonly string[]): () => void {
  let isTold = false
  return () => {
    const effects = isTold ? [] : effectsOf()
    if (effects.length === 0) return
    isTold = true
    log({
      level: 'warn',
      event: 'limits.no_address',
      message:
        `The address of clients is unknown: ${effects.join(', and ')}. Set \`trustProxy\` if a proxy of yours tells it, ` +
        'or serve with an entry that reads it (`servable/node`, `bun`, `deno`, `cloudflare`)',
    })
  }
}

/** Lets whoever serves a handler say at the start that it knows no address. */
export function withNoAddress<H extends object>(handler: H, tell: () => void): H {
  return Object.assign(handler, { [TELL]: tell })
}

/** Says so. Does nothing for other code's handler, and for one that nobody has to tell. */
export function tellNoAddress(handler: object): void {
  ;(handler as { readonly [TELL]?: () => void })[TELL]?.()
}
