/** Counts the costs of Durable Objects: rows written, calls, and alarms. */
import type { ObjectClass, ObjectState, ObjectStorage } from '../../../src/runtimes/cloudflare.ts'

/** The costs since the ledger was last taken. */
export interface Ledger {
  /** As the storage's own cursors count them, and one more for each alarm that is set. */
  rows: number
  readRows: number
  alarmsSet: number
  alarmsRun: number
  /** Calls by `Class.method`, and for keepers by `Class.keeper.method`. */
  calls: Record<string, number>
  /** Names of the objects that were called. */
  objects: string[]
  /** Rows by class. */
  rowsOf: Record<string, number>
  /** Rows by the first words of their statement. */
  statements: Record<string, number>
  /** The number of statements that ran. */
  ran: number
  /** Rows read by the first words of their statement. */
  reads: Record<string, number>
  /** The class and the first words of the last statement that wrote. */
  last: string
}

const empty = (): Ledger => ({
  rows: 0,
  readRows: 0,
  alarmsSet: 0,
  alarmsRun: 0,
  calls: {},
  objects: [],
  rowsOf: {},
  statements: {},
  ran: 0,
  reads: {},
  last: '',
})

let ledger = empty()

/** The ledger. With `isTaken`, a new one begins. */
export function readLedger(isTaken: boolean): Ledger {
  const read = ledger
  if (isTaken) ledger = empty()
  return read
}

const add = (counts: Record<string, number>, name: string, by: number) => {
  counts[name] = (counts[name] ?? 0) + by
}

interface Cursor {
  toArray(): Record<string, never>[]
  readonly rowsWritten: number
  readonly rowsRead: number
}

function meteredStorage(storage: ObjectStorage, name: string): ObjectStorage {
  const write = (what: string, rows: number) => {
    if (rows === 0) return
    ledger.last = `${name}: ${what}`
    ledger.rows += rows
    add(ledger.rowsOf, name, rows)
    add(ledger.statements, ledger.last, rows)
  }
  return {
    sql: {
      exec(query, ...values) {
        const cursor = storage.sql.exec(query, ...values) as Cursor
        const rows = cursor.toArray()
        const what = query.split(/[\s(]+/, 6).join(' ')
        ledger.ran++
        ledger.readRows += cursor.rowsRead
        if (cursor.rowsRead > 0) add(ledger.reads, `${name}: ${what}`, cursor.rowsRead)
        write(what, cursor.rowsWritten)
        return { toArray: () => rows }
      },
    },
    transactionSync: work => storage.transactionSync(work),
    getAlarm: () => storage.getAlarm(),
    setAlarm(at) {
      ledger.alarmsSet++
      write('setAlarm', 1)
      return storage.setAlarm(at)
    },
    deleteAlarm: () => storage.deleteAlarm(),
    deleteAll: () => storage.deleteAll(),
  }
}

/** The class with objects that write into the ledger. */
export function metered(name: string, Made: ObjectClass): ObjectClass {
  class Metered extends Made {
    constructor(state: ObjectState & { readonly id?: { readonly name?: string } }, env: unknown) {
      // The base class accepts only the runtime's own state.
      const storage = meteredStorage(state.storage, name)
      Object.defineProperty(state, 'storage', { value: storage })
      super(state, env)
      Object.defineProperty(this, 'objectName', { value: `${name} ${state.id?.name}` })
    }
  }
  type Method = (this: { objectName?: string }, ...values: unknown[]) => unknown
  for (const method of Object.getOwnPropertyNames(Made.prototype)) {
    if (method === 'constructor') continue
    const inner = Made.prototype[method] as Method
    const outer: Method = function (...values) {
      const object = this.objectName ?? name
      if (!ledger.objects.includes(object)) ledger.objects.push(object)
      if (method === 'alarm') ledger.alarmsRun++
      else add(ledger.calls, method === 'ask' ? `${name}.${values[0]}.${values[1]}` : `${name}.${method}`, 1)
      return inner.apply(this, values)
    }
    Object.defineProperty(Metered.prototype, method, { value: outer })
  }
  return Metered
}
