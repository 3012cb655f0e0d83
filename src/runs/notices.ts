/**
 * The interface of the plugin `webhooks`, which is called where stored runs end. Without the plugin nobody is notified.
 *
 * @module
 */

import type { InputRequest, RunResult } from '../agents/contract.ts'
import type { NearStore, Transaction } from '../stores/store.ts'
import type { RunWebhook, StoredRun } from './stored/record.ts'

/** What a run has come to, beside its record. */
export interface NoticeDetails {
  readonly result?: RunResult | undefined
  /** The requests that it waits for, if any. */
  readonly requests?: readonly InputRequest[] | undefined
}

/** The part of the plugin that a handler uses. */
export interface RunNotices {
  /** Its collections in the object of a run. */
  readonly collections: readonly string[]
  /** Rejects with `unsupported_operation`, `invalid_body` or `address_refused` if a run may not have such a webhook. */
  admit(webhook: RunWebhook & { readonly isBackground: boolean }): Promise<void>
  /** Writes the notices of a stored run that has ended or waits, in the same transaction. */
  note(tx: Transaction, run: StoredRun, outcome: NoticeDetails): void
  /** Called in the transaction that deletes a run, if deliveries are in the store of runs. */
  forgetIn(tx: Transaction, runId: string): void
  /** Called before a run is deleted, if deliveries are elsewhere. `store` is that of the run's object. */
  forget(store: NearStore, runId: string): Promise<void>
  /** Sends what `note` has written, once that is committed. */
  send(): void
  /** Passes on the notices of a run's object. Rejects if that cannot be done now. */
  forward(store: NearStore): Promise<void>
}
