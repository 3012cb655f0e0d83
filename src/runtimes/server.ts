/** The common parts of the servers of Bun, Deno and Node. */

import { ServableError } from '../base/errors.ts'
import { coreOf } from '../core/handler.ts'
import { drainOf } from '../http/drain.ts'
import { beginLife } from '../runs/life.ts'
import { LOOPBACK_NAME } from '../web/ip-address.ts'
import { identifyLocals, logStarted, useReadableLog } from './started.ts'

/** Something to serve: a handler, or the `fetch` of a socket endpoint. */
export type Fetch = (request: Request, platform?: unknown) => Response | Promise<Response>

/** Where to listen. */
export interface ServeOptions {
  /** The port; 0 takes a free one. Default: 3000. */
  readonly port?: number
  /** The address to listen on. Use `0.0.0.0` to accept other machines. Default: `127.0.0.1`. */
  readonly hostname?: string
}

/** A server that listens. */
export interface RunningServer {
  /** Its address without a slash at the end: `http://127.0.0.1:3000`. */
  readonly url: string
  readonly port: number
  /** Stops listening and closes all connections. Runs that are bound to them are cancelled. */
  close(options?: CloseOptions): Promise<void>
}

/** How to close. */
export interface CloseOptions {
  /**
   * Milliseconds for which current runs may continue while the server accepts no new request. After that they are cancelled
   * and their clients get the error. Other answers have one second. At most 2,147,483,647. Default: 0, which cancels at once.
   */
  readonly graceMs?: number
}

/** Throws `invalid_options` with an example, unless the value is a function of a request. */
export function checkHandler(handler: unknown, what: string, example: string): asserts handler is Fetch {
  if (typeof handler === 'function') return
  const { fetch } = Object(handler) as { readonly fetch?: unknown }
  const hint = typeof fetch === 'function' ? ' (not the object around it: give its `fetch`)' : ''
  throw new ServableError('invalid_options', `\`${what}\` needs a handler${hint}: \`${example}\``)
}

/** Throws `invalid_options` if a plugin of the handler needs a server that runs for long. */
export function checkServerless(handler: Fetch): void {
  const needs = coreOf(handler)?.mounted.find(({ needsServer }) => needsServer)
  if (needs?.needsServer !== undefined) throw new ServableError('invalid_options', needs.needsServer)
}

/** The example of a `serve` without a handler. */
const SERVE_EXAMPLE = 'serve(createHandler({ agents: { … } }), { port: 3000 })'

/** Fills in the defaults of {@link ServeOptions}. */
function resolveAddress(options: ServeOptions = {}): Required<ServeOptions> {
  const unknown = Object.keys(options).find(name => name !== 'port' && name !== 'hostname')
  if (unknown !== undefined) {
    throw new ServableError(
      'invalid_options',
      `\`${unknown}\` is not an option of \`serve\`: use \`port\` and \`hostname\``,
    )
  }
  return { port: options.port ?? 3000, hostname: options.hostname ?? '127.0.0.1' }
}

/** The host in the address of a server, with IPv6 in brackets (RFC 3986, section 3.2.2). */
function hostnameOf(hostname: string): string {
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

/** What a runtime gives once it listens: the port, and the steps of closing. */
export interface Listening {
  readonly port: number
  /** Stops listening. Resolves once all connections have ended by themselves. */
  stop(): Promise<unknown>
  /** Ends all open connections. */
  cut(): Promise<unknown>
}

/** Listens at an address. `waitUntil` takes promises that closing waits for. */
export type Listen = (
  handler: Fetch,
  address: Required<ServeOptions>,
  waitUntil: (promise: Promise<unknown>) => void,
) => Listening | Promise<Listening>

/** Serves a handler. The handler's life begins before the first request and ends with its server. Throws `invalid_options`. */
export async function serveOn(
  listen: Listen,
  handler: Fetch,
  options: ServeOptions | undefined,
): Promise<RunningServer> {
  checkHandler(handler, 'serve', SERVE_EXAMPLE)
  const address = resolveAddress(options)
  useReadableLog(handler)
  identifyLocals(handler, LOOPBACK_NAME.test(hostnameOf(address.hostname)))
  const end = await beginLife(handler)
  try {
    const pending = createPending()
    const listening = await listen(handler, address, pending.add)
    const { port } = listening
    const url = `http://${hostnameOf(address.hostname)}:${port}`
    logStarted(handler, url)
    return {
      url,
      port,
      async close(options = {}) {
        await closeServer(handler, options, listening)
        await pending.settled()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** Milliseconds in which clients may read buffered data, after the last run has ended. */
const FLUSH_MS = 1000

/** Closes a server. Throws `invalid_options`. */
async function closeServer(handler: Fetch, { graceMs = 0 }: CloseOptions, closing: Listening): Promise<void> {
  if (!(graceMs >= 0 && graceMs < 2 ** 31)) {
    throw new ServableError(
      'invalid_options',
      '`graceMs` of `close` must be a number of milliseconds from 0 to 2,147,483,647',
    )
  }
  if (graceMs > 0) {
    const ended = closing.stop()
    const drain = drainOf(handler)
    await drain?.(graceMs)
    // The server cannot know which connections of a foreign handler have runs.
    await atMost(ended, drain === undefined ? graceMs : FLUSH_MS)
  }
  await closing.cut()
}

function atMost(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    void promise.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Collects the promises of `waitUntil`, so that closing can wait for them. */
function createPending(): { add(promise: Promise<unknown>): void; settled(): Promise<unknown> } {
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
