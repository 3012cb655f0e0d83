/**
 * The interface of a SQLite database, for the SQL store.
 *
 * @module
 */

/** A value for a statement's parameter. */
export type SqlValue = string | number | null | Uint8Array

/** A row, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/** A SQLite database. Statements have the same text each time, so that a driver can keep them prepared. */
export interface SqlDriver {
  all(sql: string, ...values: SqlValue[]): SqlRow[]
  run(sql: string, ...values: SqlValue[]): void
  /** Runs `work`, which only reads, on the database as of one moment. */
  snapshot<T>(work: () => T): T
  /** Runs `work` in a transaction that writes. Undoes it if `work` throws. */
  transaction<T>(work: () => T): T
  /** Runs `work` inside a transaction. If it throws, only its own writes are undone. Throws {@link TransactionLost}. */
  savepoint<T>(work: () => T): T
  close(): void
}

/** The database has undone the whole transaction, not only a part of it. */
export class TransactionLost extends Error {
  constructor(cause: unknown) {
    super('The database rolled the transaction back', { cause })
  }
}
