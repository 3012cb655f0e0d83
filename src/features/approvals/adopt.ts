import { ASKING, WAITING, type Waiting } from '../../runs/waiting/waiting.ts'
import type { Store } from '../../stores/store.ts'
import { askingOf, putAsking } from './inbox.ts'

/** Runs and tasks that are looked at: the oldest. Each is read with its work. */
const MOST = 1000

/** Lists what waited before the plugin was there. Never rejects. */
export async function adoptWaiting(store: Store): Promise<void> {
  try {
    const isListed = await store.read(tx => tx.count(ASKING) > 0 || tx.count(WAITING) === 0)
    if (isListed) return
    await store.write(tx => {
      for (const { id, value } of tx.oldest<Waiting>(WAITING, MOST)) putAsking(tx, askingOf(id, value))
    })
  } catch {
    // It can be answered all the same.
  }
}
