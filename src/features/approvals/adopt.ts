import { ASKING, WAITING, type Waiting } from '../../runs/waiting/waiting.ts'
import type { Store } from '../../stores/store.ts'
import { askingOf, putAsking } from './inbox.ts'

/** Most waiting runs and tasks to read: the oldest. Each is read with its work. */
const MOST = 1000

/** Adds runs and tasks to the inbox that waited before the plugin was used. Never rejects. */
export async function adoptWaiting(store: Store): Promise<void> {
  try {
    const isListed = await store.read(tx => tx.count(ASKING) > 0 || tx.count(WAITING) === 0)
    if (isListed) return
    await store.write(tx => {
      for (const { id, value } of tx.oldest<Waiting>(WAITING, MOST)) putAsking(tx, askingOf(id, value))
    })
  } catch {
    // They can be answered even if they are not listed.
  }
}
