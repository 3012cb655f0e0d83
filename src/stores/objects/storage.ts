import type { SqlRow, SqlValue } from '../sql/sql-driver.ts'

/** The storage of a Durable Object. It is restated here, so that the declarations need no types package that a user may not have. */
export interface ObjectStorage {
  readonly sql: { exec(query: string, ...values: SqlValue[]): { toArray(): SqlRow[] } }
  transactionSync<T>(work: () => T): T
  getAlarm(): Promise<number | null>
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
  deleteAll(): Promise<void>
}
