/**
 * The Durable Object that lists one owner's runs, or holds one idempotency key.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { admitRun, reserveKey, useOfKey } from '../../runs/admission.ts'
import { decodeCursor } from '../../runs/cursor.ts'
import type { IdempotencyKey, RunPage, RunQuery, Viewer } from '../../runs/host.ts'
import { listRuns } from '../../runs/list.ts'
import { KEYS, RUNNING, RUNS, type StoredRun, toDocument } from '../../runs/record.ts'
import type { Service } from '../../service.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import { type Answer, answer } from './rpc.ts'
import { type ObjectStore, objectStore } from './sql.ts'

/** Makes the class, bounded by what `service` gives. */
export function indexObjectClass(service: () => Service): ObjectClass {
  return class ServableIndex extends DurableObject {
    readonly #state: ObjectState
    readonly #store: ObjectStore

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      this.#state = state
      this.#store = objectStore(state.storage)
    }

    admit(run: StoredRun): Promise<Answer<void>> {
      return answer(() => {
        this.#store.transact(tx => {
          if (tx.get(RUNS, run.record.id) === undefined) admitRun(tx, run, service().runs)
        })
      })
    }

    async update(run: StoredRun, expiresAt: number | undefined): Promise<void> {
      this.#store.transact(tx => {
        tx.put(RUNS, toDocument(run, expiresAt))
        tx.delete(RUNNING, run.record.id)
      })
    }

    async remove(id: string): Promise<void> {
      this.#store.transact(tx => {
        tx.delete(RUNS, id)
        tx.delete(RUNNING, id)
      })
    }

    list(owner: Viewer, query: RunQuery): Promise<Answer<RunPage>> {
      return answer(() => {
        if (query.cursor !== undefined) decodeCursor(query.cursor)
        if (this.#store.isEmpty()) return { runs: [], nextCursor: null }
        return this.#store.transact(tx => listRuns(tx, owner, query))
      })
    }

    reserve(key: IdempotencyKey, runId: string, expiresAt: number): Promise<Answer<string>> {
      return answer(async () => {
        const use = this.#store.transact(tx => {
          const earlier = useOfKey(tx, key)
          if (earlier === undefined) reserveKey(tx, key, runId, expiresAt)
          return earlier
        })
        if (use === undefined) await this.#state.storage.setAlarm(expiresAt)
        return use?.runId ?? runId
      })
    }

    /** The time of the key has come. */
    override async alarm(): Promise<void> {
      if (this.#store.isEmpty()) return
      const { next, left } = this.#store.transact(tx => {
        for (const { id } of tx.expired(KEYS, Date.now(), 100)) tx.delete(KEYS, id)
        const [soonest] = tx.expired(KEYS, Number.MAX_SAFE_INTEGER, 1)
        return { next: soonest?.expiresAt, left: tx.count(KEYS) + tx.count(RUNS) }
      })
      if (next !== undefined) await this.#state.storage.setAlarm(next)
      else if (left === 0) await this.#store.clear()
    }
  }
}
