/** Operations on a store, as data, so that a suite can use a store in another process. */
import type {
  Counted,
  Document,
  Filter,
  Found,
  ListQuery,
  SearchQuery,
  Store,
  StoredLogEntry,
  Transaction,
} from '../../../src/stores/store.ts'

/** One call of a transaction. */
export type Step =
  | readonly ['get', collection: string, id: string]
  | readonly ['put', collection: string, document: Document]
  | readonly ['delete', collection: string, id: string]
  | readonly ['list', collection: string, query: ListQuery]
  | readonly ['search', collection: string, query: SearchQuery]
  | readonly ['countMatching', collection: string, filter: Filter]
  | readonly ['withPrefix', collection: string, prefix: string, limit: number]
  | readonly ['count', collection: string, partition?: string]
  | readonly ['expired', collection: string, now: number, limit: number]
  | readonly ['oldest', collection: string, limit: number]
  | readonly ['append', log: string, data: string, seal?: boolean]
  | readonly ['read', log: string, after: number, limit: number]
  | readonly ['length', log: string]
  | readonly ['isSealed', log: string]
  | readonly ['deleteLog', log: string]
  | readonly ['throw', message: string]

/** The result of a step. */
export interface Answers {
  get: Document | undefined
  put: undefined
  delete: undefined
  list: Document[]
  search: Found
  countMatching: Counted
  withPrefix: Document[]
  count: number
  expired: Document[]
  oldest: Document[]
  append: number | undefined
  read: StoredLogEntry[]
  length: number
  isSealed: boolean
  deleteLog: undefined
  throw: never
}

/** A store in any process. */
export interface TestStore {
  /** Runs all steps in one transaction. Rejects with the error of a step. */
  transact(steps: readonly Step[]): Promise<unknown[]>
  close(): Promise<void>
}

/** A store of this process. */
export function here(store: Store): TestStore {
  return {
    transact: async steps => store.write(tx => runSteps(tx, steps)),
    close: async () => store.close(),
  }
}

/** A store behind an endpoint that takes `{ steps }` and answers `{ answers }` or `{ error }`. */
export function there(url: string): TestStore {
  return {
    async transact(steps) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ steps }) })
      const { answers, error } = (await response.json()) as DoorAnswer
      if (answers === undefined) throw new Error(error)
      return answers.map(([answer]) => answer)
    },
    close: async () => {},
  }
}

interface DoorAnswer {
  /** Arrays of one or none, since JSON has no undefined. */
  readonly answers?: readonly (readonly [unknown?])[]
  readonly error?: string
}

/** The server side of {@link there}. */
export async function answerSteps(store: Store, request: Request): Promise<Response> {
  const { steps } = (await request.json()) as { steps: Step[] }
  try {
    const answers = await store.write(tx => runSteps(tx, steps))
    return Response.json({ answers: answers.map(answer => (answer === undefined ? [] : [answer])) })
  } catch (error) {
    return Response.json({ error: String(error) })
  }
}

/** Runs the steps one after another. */
export function runSteps(tx: Transaction, steps: readonly Step[]): unknown[] {
  return steps.map(step => runStep(tx, step))
}

function runStep(tx: Transaction, [name, ...values]: Step): unknown {
  if (name === 'throw') throw new Error(String(values[0]))
  const call = tx[name] as (...values: unknown[]) => unknown
  return call.apply(tx, values) ?? undefined
}
