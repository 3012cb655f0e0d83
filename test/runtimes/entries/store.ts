/** A Worker whose Durable Objects each hold a store, and do what is sent to them. */
import { DurableObject } from 'cloudflare:workers'
import type { ObjectNamespace, ObjectState } from '../../../src/runtimes/cloudflare/platform.ts'
import { objectStore } from '../../../src/runtimes/cloudflare/sql.ts'
import type { Store } from '../../../src/state/store.ts'
import { answerSteps } from '../../contracts/store/steps.ts'

interface StoreStub {
  fetch(request: Request): Promise<Response>
}

/** It has the name of a class that `wrangler.toml` binds. */
export class ServableRun extends DurableObject {
  readonly #store: Store

  constructor(state: ObjectState, env: unknown) {
    super(state as never, env as never)
    this.#store = objectStore(state.storage)
  }

  override fetch(request: Request): Promise<Response> {
    return answerSteps(this.#store, request)
  }
}

const entry = {
  fetch(request: Request, env: { SERVABLE_RUN: ObjectNamespace<StoreStub> }): Promise<Response> {
    return env.SERVABLE_RUN.getByName(new URL(request.url).pathname).fetch(request)
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
