import type { Store, Transaction } from '../state/store.ts'
import type { WorkerName } from './worker-name.ts'

/**
 * The transactions of a host. Before its first one, what dead workers left in `collection` (documents of their names)
 * is ended, so that nothing is read before.
 */
export function afterRecovery(
  store: Store,
  {
    worker,
    collection,
    end,
  }: {
    readonly worker: WorkerName
    readonly collection: string
    readonly end: (tx: Transaction, id: string) => void
  },
): Store['transact'] {
  let isRecovered = false
  const recover = (tx: Transaction) => {
    for (const { id, value } of tx.oldest<string>(collection, Number.MAX_SAFE_INTEGER)) {
      if (!worker.mayWork(value)) end(tx, id)
    }
  }
  return work => {
    if (!isRecovered) {
      isRecovered = true
      store.transact(recover)
    }
    return store.transact(work)
  }
}
