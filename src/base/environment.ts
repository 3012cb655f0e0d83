/**
 * The only file of the core that detects the runtime and its environment.
 *
 * @module
 */

declare const process: {
  readonly env: { readonly NODE_ENV?: string; readonly NO_COLOR?: string }
  readonly stdout?: { readonly isTTY?: boolean }
  getBuiltinModule?(name: string): unknown
}

declare const Deno:
  | { readonly permissions: { querySync(permission: { readonly name: string }): Permission } }
  | undefined

interface Permission {
  readonly state: string
  readonly partial?: boolean
}

/**
 * Whether this is production: every `NODE_ENV` except `development` and `test`, so that a deployment without it is masked.
 * Bundlers can insert the value. Deno without the permission to read it counts as production.
 */
export function isProduction(): boolean {
  try {
    const env = process.env.NODE_ENV
    return env !== 'development' && env !== 'test'
  } catch {
    return true
  }
}

/** Whether `NODE_ENV` is `test`. */
export function isTest(): boolean {
  try {
    return process.env.NODE_ENV === 'test'
  } catch {
    return false
  }
}

/** Whether the console is a terminal whose user wants colors (no-color.org). */
export function wantsColors(): boolean {
  try {
    return process.stdout?.isTTY === true && !process.env.NO_COLOR
  } catch {
    return false
  }
}

/** Resolves host names, on Node, Bun and Deno. */
interface NameService {
  lookup(host: string, options: { readonly all: true }): Promise<readonly { readonly address: string }[]>
}

/** Milliseconds that resolving a name may take. */
const LOOKUP_MS = 5000

/** Returns a function that resolves the addresses of a host name; undefined if the runtime cannot. It rejects if that fails. */
export function nameResolver(): ((host: string) => Promise<readonly string[]>) | undefined {
  try {
    const names = process.getBuiltinModule?.('node:dns/promises') as NameService | undefined
    if (typeof names?.lookup !== 'function') return undefined
    return async host => {
      const found = await inTime(names.lookup(host, { all: true }))
      // workerd includes aliases.
      return found.map(({ address }) => address).filter(address => /^[\d.]+$|:/.test(address))
    }
  } catch {
    return undefined
  }
}

/** A request that is being sent. */
export interface HttpRequest {
  on(event: 'response', listener: (answer: HttpAnswer) => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  on(event: 'close' | 'timeout', listener: () => void): unknown
  end(body: Uint8Array | undefined): unknown
  destroy(): unknown
}

/** An answer whose head has arrived. */
export interface HttpAnswer {
  readonly statusCode?: number
  readonly statusMessage?: string
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[]
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  on(event: 'close' | 'end', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
}

/** Returns the addresses of a host: all, or one with its family (4, 6). */
export type Lookup = (
  host: string,
  options: { readonly all?: boolean },
  done: (
    error: null,
    found: string | readonly { readonly address: string; readonly family: number }[],
    family?: number,
  ) => void,
) => void

/** An HTTP client whose caller chooses the addresses. */
export interface HttpClient {
  request(
    url: URL,
    options: {
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
      /** Each request has its own connection. */
      readonly agent: false
      /** Milliseconds without a byte until `timeout`. */
      readonly timeout: number
      readonly lookup?: Lookup
    },
  ): HttpRequest
}

/**
 * The client for a protocol (`https:`), if the runtime has one whose caller may choose the addresses. Elsewhere there is only
 * `fetch`.
 */
export function httpClient(protocol: string): HttpClient | undefined {
  try {
    // In a Worker, the module of this name chooses addresses by itself.
    if (process.getBuiltinModule?.('cloudflare:workers') !== undefined || !mayReachAll()) return undefined
    const name = protocol === 'https:' ? 'node:https' : 'node:http'
    const client = process.getBuiltinModule?.(name) as HttpClient | undefined
    return typeof client?.request === 'function' ? client : undefined
  } catch {
    return undefined
  }
}

/** Whether the client may connect anywhere. In Deno it needs all of these permissions to check names and agree on keys. */
function mayReachAll(): boolean {
  if (typeof Deno === 'undefined') return true
  return ['env', 'net', 'read', 'sys'].every(name => {
    const { state, partial } = Deno!.permissions.querySync({ name })
    return state === 'granted' && partial !== true
  })
}

/** The part of a Worker's own module that is used. */
interface WorkersModule {
  waitUntil?(work: Promise<unknown>): void
}

/**
 * Keeps a Worker alive until work is done, even after its response and after its client has left. Other runtimes live on by
 * themselves.
 */
export function keepAlive(work: Promise<unknown>): void {
  try {
    const workers = process.getBuiltinModule?.('cloudflare:workers') as WorkersModule | undefined
    workers?.waitUntil?.(work)
  } catch {
    // There is no such module, or no request.
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The lookup took too long')), LOOKUP_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
