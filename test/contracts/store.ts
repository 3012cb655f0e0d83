/** The contract of every store. */
import { afterEach, beforeEach, describe } from 'vitest'
import { documentCases } from './store/documents.ts'
import { largeCases } from './store/large.ts'
import { listCases, searchCases } from './store/lists.ts'
import { logCases } from './store/logs.ts'
import { oddCases } from './store/odd.ts'
import type { Answers, Step, TestStore } from './store/steps.ts'
import { textCases } from './store/texts.ts'
import { transactionCases } from './store/transactions.ts'

/** Performs one step in a transaction of its own. */
export type Do = <S extends Step>(...step: S) => Promise<Answers[S[0]]>

/** The store of a test. */
export interface Stored {
  readonly do: Do
  transact(...steps: Step[]): Promise<unknown[]>
}

/** The whole contract. `make` gives a new, empty store. */
export function storeContract(make: () => TestStore | Promise<TestStore>): void {
  let store: TestStore | undefined
  beforeEach(async () => {
    store = await make()
  })
  afterEach(() => store?.close())
  const transact = (...steps: Step[]) => {
    if (store === undefined) throw new Error('there is no store yet')
    return store.transact(steps)
  }
  const one: Do = async (...step) => (await transact(step))[0] as Answers[(typeof step)[0]]
  const stored: Stored = { do: one, transact }
  describe('documents', () => documentCases(stored))
  describe('lists', () => listCases(stored))
  describe('searches', () => searchCases(stored))
  describe('texts', () => textCases(stored))
  describe('logs', () => logCases(stored))
  describe('transactions', () => transactionCases(stored))
  describe('what is large', () => largeCases(stored))
  describe('odd names and texts', () => oddCases(stored))
}
