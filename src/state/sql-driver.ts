/**
 * What the store asks of a SQLite database.
 *
 * @module
 */

/** What binds to a statement. */
export type SqlValue = string | number | null

/** A row, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/** A SQLite database. Statements repeat word for word, so that a driver can keep them prepared. */
export interface SqlDriver {
  all(sql: string, ...values: SqlValue[]): SqlRow[]
  run(sql: string, ...values: SqlValue[]): void
  /** Runs `work`, which only reads, on the database as it is at one moment. */
  snapshot<T>(work: () => T): T
  /** Runs `work` in a transaction that writes, and undoes it when it throws. */
  transaction<T>(work: () => T): T
  /** The same inside of a transaction, of which it undoes no more. Throws {@link TransactionLost}. */
  savepoint<T>(work: () => T): T
  close(): void
}

/** The database has undone the whole transaction, not a part of it alone. */
export class TransactionLost extends Error {
  constructor(cause: unknown) {
    super('The database rolled the transaction back', { cause })
  }
}
