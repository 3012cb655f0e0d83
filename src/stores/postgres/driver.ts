/**
 * The only module that uses the database client: the package `postgres`, an optional peer.
 *
 * @module
 */

import postgres from 'postgres'
import { deferred } from '../../base/wake.ts'

/** One row of a result. */
export type Row = Readonly<Record<string, unknown>>

/** How a statement is sent. */
export interface QueryOptions {
  /** Whether it is sent often. It is then prepared once for each connection, if statements may be prepared. */
  readonly isOften?: boolean
  /** Milliseconds to wait for the answer. Default: 5,000. */
  readonly timeoutMs?: number
}

/** Connections to a database. */
export interface PostgresDriver {
  /**
   * Sends one statement. Its parameters are text or numbers, whose types the statement states. Without an answer in time it
   * rejects, and all connections are replaced, since the old ones may be dead.
   */
  query(
    text: string,
    values: readonly (string | number | null)[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>
  /** Ends all connections. The next statement connects again. */
  end(): Promise<void>
}

/** How to connect. */
export interface DriverOptions {
  /** Most connections of this process. */
  readonly max: number
  /** Whether statements are prepared. Poolers in transaction mode may not support them. */
  readonly prepare: boolean
  readonly ssl: boolean | 'require' | 'verify-full' | object | undefined
  /** Called with each notification. */
  readonly onNotify?: (text: string) => void
  /** Called when a connection has ended. */
  readonly onClose?: () => void
}

/** Milliseconds to wait for the answer to a statement. */
const TIMEOUT_MS = 5000

/** Milliseconds between two replacements of connections to a read-only server. */
const LEAVE_EVERY_MS = 1000

/** Makes a driver. It connects at the first statement. */
export function postgresDriver(url: string, options: DriverOptions): PostgresDriver {
  let sql: postgres.Sql | undefined
  let leftAt = Number.NEGATIVE_INFINITY
  const renew = (old: postgres.Sql, timeout = 0) => {
    if (old !== sql) return
    sql = undefined
    // Statements on the old connections fail at once, or after so many seconds.
    void old.end({ timeout }).catch(() => {})
  }
  /** By now the address may lead to another server, which can be written. */
  const leave = (old: postgres.Sql) => {
    if (performance.now() - leftAt < LEAVE_EVERY_MS) return
    leftAt = performance.now()
    renew(old, TIMEOUT_MS / 1000)
  }
  return {
    async query(text, values, { isOften = false, timeoutMs = TIMEOUT_MS } = {}) {
      sql ??= connect(url, options)
      const used = sql
      const { promise: late, reject } = deferred<never>()
      const timer = setTimeout(() => {
        reject(new Error(`The database did not answer within ${timeoutMs} ms`))
        renew(used)
      }, timeoutMs)
      try {
        const asked = used.unsafe(text, [...values], { prepare: options.prepare && isOften })
        return await Promise.race([asked as unknown as Promise<Row[]>, late])
      } catch (error) {
        if (isReadOnly(error)) leave(used)
        throw isTooMuch(error)
          ? new RangeError('The database refuses it: it is too much', { cause: error })
          : error
      } finally {
        clearTimeout(timer)
      }
    },
    async end() {
      const old = sql
      sql = undefined
      await old?.end({ timeout: 1 })
    },
  }
}

function connect(url: string, { max, ssl, prepare, onNotify, onClose }: DriverOptions): postgres.Sql {
  return postgres(url, {
    max,
    prepare,
    ...tlsOf(url, ssl),
    connect_timeout: 5,
    // The listening connection stays open.
    idle_timeout: onNotify === undefined ? 60 : undefined,
    max_lifetime: onNotify === undefined ? 30 * 60 : null,
    // An unavailable server is tried again soon.
    backoff: (tries: number) => Math.min(0.05 * 2 ** tries, 1),
    fetch_types: false,
    onnotice: () => {},
    ...(onNotify && { onnotify: (_channel: string, text: string) => onNotify(text) }),
    ...(onClose && { onclose: () => onClose() }),
    connection: { application_name: 'servable' },
  } as postgres.Options<Record<string, never>>)
}

/**
 * TLS options as the client takes them. If the host is an IP address, it must be given again: otherwise Node and Deno look for
 * `localhost` in the certificate.
 */
function tlsOf(url: string, given: DriverOptions['ssl']): { readonly ssl?: unknown } {
  const { hostname, searchParams } = new URL(url)
  const ssl = given ?? searchParams.get('sslmode')
  const host = hostname.replace(/^\[|\]$/g, '')
  if (ssl === true || ssl === 'verify-full') return { ssl: { host } }
  if (typeof ssl === 'object' && ssl !== null) return { ssl: { host, ...ssl } }
  return given === undefined ? {} : { ssl: given }
}

/** Classes of errors that a repetition would get again: wrong data, limits, no memory for so many locks. */
const TOO_MUCH = /^(22|54)|^53200$/

/** Whether the server is read-only, such as a former primary after a failover. */
function isReadOnly(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '25006'
}

/** Whether a row was to be inserted that is there already. */
export function isTaken(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '23505'
}

function isTooMuch(error: unknown): boolean {
  return error instanceof postgres.PostgresError && TOO_MUCH.test(error.code)
}
