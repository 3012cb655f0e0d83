/**
 * What the plugin `webhooks` does where stored runs end. This file has the interface alone: without the plugin nobody is told.
 *
 * @module
 */

import type { InputRequest, RunResult } from '../agents/contract.ts'
import type { NearStore, Transaction } from '../stores/store.ts'
import type { RunWebhook, StoredRun } from './stored/record.ts'

/** What a run has come to, beside its record. */
export interface RunOutcome {
  readonly result?: RunResult | undefined
  /** What it waits for, if it does. */
  readonly requests?: readonly InputRequest[] | undefined
}

/** What of the plugin is made for a handler. */
export interface RunNotices {
  /** Its collections in the object of a run. */
  readonly collections: readonly string[]
  /** Rejects with `unsupported_operation`, `invalid_body` or `address_refused` where a run may have no such webhook. */
  admit(webhook: RunWebhook & { readonly isBackground: boolean }): Promise<void>
  /** A stored run has ended, or waits: writes what is to be told of that, in the same transaction. */
  note(tx: Transaction, run: StoredRun, outcome: RunOutcome): void
  /** A run is deleted, in this transaction: where deliveries are in the store of runs. */
  forgetIn(tx: Transaction, runId: string): void
  /** The same, before it is deleted: where they are elsewhere. `store` is that of the run's object. */
  forget(store: NearStore, runId: string): Promise<void>
  /** What was noted is written, so that it can be sent. */
  send(): void
  /** The object of a run passes on what was noted there. Rejects where that cannot be done now. */
  tell(store: NearStore): Promise<void>
}
