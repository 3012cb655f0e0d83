/**
 * The one place that knows the database's client: the package `postgres`, an optional peer.
 *
 * @module
 */

import postgres from 'postgres'

/** One row of an answer. */
export type Row = Readonly<Record<string, unknown>>

/** A connection to a database, or several. */
export interface PostgresDriver {
  /** Sends one statement. Its parameters are text, and say their types in the statement. */
  query(text: string, values: readonly (string | number | null)[]): Promise<readonly Row[]>
  end(): Promise<void>
}

/** How to connect. */
export interface DriverOptions {
  /** Most connections of this process. */
  readonly max: number
  /** Whether statements are prepared. Poolers that hand out connections by transaction may not know them. */
  readonly prepare: boolean
  readonly ssl: boolean | 'require' | 'verify-full' | object | undefined
}

/** Makes a driver. It connects at the first statement. */
export function postgresDriver(url: string, { max, prepare, ssl }: DriverOptions): PostgresDriver {
  const sql = postgres(url, {
    max,
    prepare,
    ...(ssl !== undefined && { ssl }),
    connect_timeout: 5,
    idle_timeout: 60,
    onnotice: () => {},
    connection: { application_name: 'servable' },
  } as postgres.Options<Record<string, never>>)
  return {
    query: (text, values) => sql.unsafe(text, [...values]) as unknown as Promise<Row[]>,
    end: () => sql.end({ timeout: 5 }),
  }
}
