/** A Worker whose Durable Objects each hold a store, and do what is sent to them. */
import { DurableObject } from 'cloudflare:workers'
import type {
  ObjectNamespace,
  ObjectState,
  ObjectStorage,
} from '../../../src/runtimes/cloudflare/platform.ts'
import { objectStore } from '../../../src/runtimes/cloudflare/sql.ts'
import { sqlStore } from '../../../src/state/sql.ts'
import type { Store } from '../../../src/state/store.ts'
import { answerSteps } from '../../contracts/store/steps.ts'

interface StoreStub {
  fetch(request: Request): Promise<Response>
}

/** It has the name of a class that `wrangler.toml` binds. */
export class ServableRun extends DurableObject {
  readonly #store: Store
  readonly #storage: ObjectStorage

  constructor(state: ObjectState, env: unknown) {
    super(state as never, env as never)
    this.#storage = state.storage
    this.#store = objectStore(state.storage)
  }

  /** `?first` has the steps done as version 0.1.0 did them. */
  override fetch(request: Request): Promise<Response> {
    return answerSteps(request.url.endsWith('?first') ? firstStore(this.#storage) : this.#store, request)
  }
}

/** The store that objects had in version 0.1.0. */
function firstStore(storage: ObjectStorage): Store {
  return sqlStore({
    all: (sql, ...values) => storage.sql.exec(sql, ...values).toArray(),
    run: (sql, ...values) => void storage.sql.exec(sql, ...values),
    transaction: work => storage.transactionSync(work),
    close() {},
  })
}

const entry = {
  fetch(request: Request, env: { SERVABLE_RUN: ObjectNamespace<StoreStub> }): Promise<Response> {
    return env.SERVABLE_RUN.getByName(new URL(request.url).pathname).fetch(request)
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
