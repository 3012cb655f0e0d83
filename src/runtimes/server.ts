/** What the servers of Bun, Deno and Node have in common. */

import { ServableError } from '../errors.ts'

/** What can be served: a handler, or the `fetch` of a socket endpoint. */
export type Fetch = (request: Request, platform?: unknown) => Response | Promise<Response>

/** Where to listen. */
export interface ServeOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number
  /** Default `127.0.0.1`. Give `0.0.0.0` to be reached from other machines. */
  readonly hostname?: string
}

/** A server that listens. */
export interface RunningServer {
  /** Its address without a slash at the end: `http://127.0.0.1:3000`. */
  readonly url: string
  readonly port: number
  /** Stops listening and closes all connections; runs that are bound to them are cancelled. */
  close(): Promise<void>
}

/** The defaults of {@link ServeOptions}. */
export function resolveAddress(options: ServeOptions = {}): Required<ServeOptions> {
  const unknown = Object.keys(options).find(name => name !== 'port' && name !== 'hostname')
  if (unknown !== undefined) {
    throw new ServableError(
      'invalid_options',
      `\`${unknown}\` is no option of \`serve\`: use \`port\` and \`hostname\``,
    )
  }
  return { port: options.port ?? 3000, hostname: options.hostname ?? '127.0.0.1' }
}

/** The address of a server, with IPv6 in brackets (RFC 3986, section 3.2.2). */
export function urlOf(hostname: string, port: number): string {
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}

/** Collects the promises of `waitUntil`, so that closing can wait for them. */
export function createPending(): { add(promise: Promise<unknown>): void; settled(): Promise<unknown> } {
  const pending = new Set<Promise<unknown>>()
  return {
    add(promise) {
      const settled: Promise<unknown> = promise.then(
        () => pending.delete(settled),
        () => pending.delete(settled),
      )
      pending.add(settled)
    },
    settled: () => Promise.all(pending),
  }
}
