/**
 * Logs in SQL. Each log has a number instead of its name, and new entries are stored together. So a commit touches few pages even
 * if many logs grow at once.
 *
 * @module
 */

import type { StoredLogEntry } from '../store.ts'
import { joinChunks, splitChunks } from './rows.ts'
import type { SqlDriver } from './sql-driver.ts'

/** Reads and writes logs inside transactions. Its members are those of `Transaction`. */
export class SqlLogs {
  readonly #sql: SqlDriver

  constructor(sql: SqlDriver) {
    this.#sql = sql
  }

  append(name: string, data: string, seal: boolean): number | undefined {
    const log = this.#find(name) ?? this.#create(name)
    const [last] = this.#sql.all(
      'SELECT seq, sealed FROM entries WHERE log = ? ORDER BY seq DESC LIMIT 1',
      log,
    )
    if (last?.sealed === 1) return undefined
    const seq = Number(last?.seq ?? 0) + 1
    for (const [part, chunk] of splitChunks(data).entries()) {
      this.#sql.run(
        'INSERT INTO entries (log, seq, part, sealed, data) VALUES (?, ?, ?, ?, ?)',
        log,
        seq,
        part,
        seal ? 1 : 0,
        chunk,
      )
    }
    return seq
  }

  read(name: string, after: number, limit: number): StoredLogEntry[] {
    const rows = this.#sql.all(
      'SELECT seq, data FROM entries WHERE log = (SELECT number FROM logs WHERE name = ?)' +
        ' AND seq > ? AND seq <= ? ORDER BY seq, part',
      name,
      after,
      after + limit,
    )
    return joinChunks(rows.map(({ seq, data }) => ({ seq: Number(seq), data: String(data) })))
  }

  length(name: string): number {
    return Number(this.#last(name)?.seq ?? 0)
  }

  isSealed(name: string): boolean {
    return this.#last(name)?.sealed === 1
  }

  delete(name: string): void {
    const log = this.#find(name)
    if (log === undefined) return
    this.#sql.run('DELETE FROM entries WHERE log = ?', log)
    this.#sql.run('DELETE FROM logs WHERE number = ?', log)
  }

  #last(name: string) {
    return this.#sql.all(
      'SELECT seq, sealed FROM entries WHERE log = (SELECT number FROM logs WHERE name = ?)' +
        ' ORDER BY seq DESC LIMIT 1',
      name,
    )[0]
  }

  #find(name: string): number | undefined {
    const [row] = this.#sql.all('SELECT number FROM logs WHERE name = ?', name)
    return row && Number(row.number)
  }

  #create(name: string): number {
    return Number(this.#sql.all('INSERT INTO logs (name) VALUES (?) RETURNING number', name)[0]?.number)
  }
}

/** Logs inside a transaction. */
interface Logs {
  append(name: string, data: string, seal: boolean): number | undefined
  read(name: string, after: number, limit: number): StoredLogEntry[]
  length(name: string): number
  isSealed(name: string): boolean
  delete(name: string): void
}

/** The part of a transaction that has to do with logs. */
export abstract class LogTransaction<L extends Logs> {
  protected readonly logs: L

  constructor(logs: L) {
    this.logs = logs
  }

  append(log: string, data: string, seal = false): number | undefined {
    return this.logs.append(log, data, seal)
  }

  read(log: string, after: number, limit: number): StoredLogEntry[] {
    return this.logs.read(log, after, limit)
  }

  length(log: string): number {
    return this.logs.length(log)
  }

  isSealed(log: string): boolean {
    return this.logs.isSealed(log)
  }

  deleteLog(log: string): void {
    this.logs.delete(log)
  }
}
